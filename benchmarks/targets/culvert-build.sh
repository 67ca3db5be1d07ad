#!/bin/sh
# Another build of Culvert as a target of `culvert bench compare --targets culvert,script:benchmarks/targets/culvert-build.sh`.
# CULVERT_BUILD is the folder of its repository. It is started as that of the target culvert, by its own launcher script.
# ScriptTarget.java has the protocol of these scripts.
set -eu
umask 077

# Variables of the user's own server would change what is measured.
for name in $(env | sed -n 's/^\(CULVERT_[A-Z0-9_]*\)=.*/\1/p'); do
    case $name in
        CULVERT_BUILD | CULVERT_JAVA_OPTS | CULVERT_SCHEDULING) ;;
        *) unset "$name" ;;
    esac
done

# $1: the name of a field of JSON text in standard input
field() {
    sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' | head -n 1
}

# $1: the file, $2: the text that a line of it has in the end
await() {
    left=300
    until grep -q "$2" "$1" 2>/dev/null; do
        left=$((left - 1))
        if [ "$left" -eq 0 ]; then
            cat "$1" >&2
            exit 1
        fi
        sleep 0.1
    done
}

# $1: the upstream's URL, $2: the folder
start() {
    culvert=${CULVERT_BUILD:?is not set: the folder of a repository of Culvert}/culvert
    if [ ! -x "$culvert" ]; then
        echo "$culvert is not there" >&2
        exit 69
    fi
    cd "$2"
    "$culvert" certs init --dir certs --domain culvert.localhost >certs.log 2>&1
    cat >server.yaml <<EOF
edge:   { accessLog: false, listen: "127.0.0.1:0", domain: culvert.localhost, tls: { certificate: certs/edge.crt, key: certs/edge.key } }
tunnel: { listen: "127.0.0.1:0", tls: { certificate: certs/tunnel.crt, key: certs/tunnel.key }, ca: { certificate: certs/ca.crt, key: certs/ca.key } }
admin:  { listen: "127.0.0.1:0", tokenFile: admin.token }
inbox:  { perAddress: 1000000 }
dataDir: data
EOF
    "$culvert" server --config server.yaml >server.log 2>&1 &
    echo $! >pids
    await server.log '"event":"listening"'
    listening=$(grep '"event":"listening"' server.log)
    "$culvert" runtime create demo local --admin "http://$(echo "$listening" | field admin)" \
        --admin-token-file admin.token --output json | field enrolmentToken >token
    "$culvert" client --server "wss://$(echo "$listening" | field tunnel)" --enrolment-token-file token \
        --identity-dir identity --health-listen 127.0.0.1:0 --router-url "$1" >client.log 2>&1 &
    echo $! >>pids
    await client.log '"event":"connected"'
    echo "url=https://$(echo "$listening" | field edge)"
    echo "host=demo-local.culvert.localhost"
    echo "pids=$(tr '\n' ' ' <pids)"
}

# $1: the folder
stop() {
    [ -f "$1/pids" ] || return 0
    while read -r pid; do
        kill "$pid" 2>/dev/null || true
    done <"$1/pids"
}

case ${1:-} in
    start) start "$2" "$3" ;;
    stop) stop "$2" ;;
    *)
        echo "usage: $0 start UPSTREAM_URL DIR | stop DIR" >&2
        exit 64
        ;;
esac
