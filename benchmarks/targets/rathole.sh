#!/bin/sh
# rathole as a target of `culvert bench compare --targets script:benchmarks/targets/rathole.sh`: a TCP service
# over its default transport, which does not encrypt. ScriptTarget.java has the protocol of these scripts.
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
    need rathole
    dir=$2
    upstream=${1##*:}
    # shellcheck disable=SC2086 # ports are words
    set -- $BENCH_PORTS
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    cat >"$dir/server.toml" <<END
[server]
bind_addr = "127.0.0.1:$1"

[server.services.upstream]
token = "$token"
bind_addr = "127.0.0.1:$2"
END
    cat >"$dir/client.toml" <<END
[client]
remote_addr = "127.0.0.1:$1"

[client.services.upstream]
token = "$token"
local_addr = "127.0.0.1:$upstream"
END
    RUST_LOG=error rathole --server "$dir/server.toml" >"$dir/server.log" 2>&1 &
    echo $! >"$dir/pids"
    RUST_LOG=error rathole --client "$dir/client.toml" >"$dir/client.log" 2>&1 &
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
