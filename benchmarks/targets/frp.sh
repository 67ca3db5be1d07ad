#!/bin/sh
# frp as a target of `culvert bench compare --targets script:benchmarks/targets/frp.sh`: a TCP proxy, with TLS
# between frpc and frps, which is its default. Needs frps and frpc 0.52 or newer. ScriptTarget.java has the
# protocol of these scripts.
set -eu
umask 077

need() {
    for program in "$@"; do
        if ! command -v "$program" >/dev/null 2>&1; then
            echo "$program is not on the PATH" >&2
            exit 69
        fi
    done
}

# $1: the upstream's URL, $2: the folder
start() {
    need frps frpc
    dir=$2
    upstream=${1##*:}
    # shellcheck disable=SC2086 # ports are words
    set -- $BENCH_PORTS
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    cat >"$dir/frps.toml" <<END
bindAddr = "127.0.0.1"
bindPort = $1
auth.token = "$token"
log.level = "error"
END
    cat >"$dir/frpc.toml" <<END
serverAddr = "127.0.0.1"
serverPort = $1
loginFailExit = false
auth.token = "$token"
log.level = "error"

[[proxies]]
name = "upstream"
type = "tcp"
localIP = "127.0.0.1"
localPort = $upstream
remotePort = $2
END
    frps -c "$dir/frps.toml" >"$dir/frps.log" 2>&1 &
    echo $! >"$dir/pids"
    frpc -c "$dir/frpc.toml" >"$dir/frpc.log" 2>&1 &
    echo $! >>"$dir/pids"
    echo "url=http://127.0.0.1:$2"
    echo "pids=$(tr '\n' ' ' <"$dir/pids")"
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
