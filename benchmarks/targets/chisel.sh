#!/bin/sh
# chisel as a target of `culvert bench compare --targets script:benchmarks/targets/chisel.sh`: a reverse TCP
# tunnel, SSH in a WebSocket. Needs chisel 1.7 or newer. ScriptTarget.java has the protocol of these scripts.
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
    need chisel
    dir=$2
    upstream=${1##*:}
    # shellcheck disable=SC2086 # ports are words
    set -- $BENCH_PORTS
    AUTH=bench:$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    export AUTH
    chisel server --host 127.0.0.1 --port "$1" --reverse >"$dir/server.log" 2>&1 &
    echo $! >"$dir/pids"
    chisel client --max-retry-interval 1s "http://127.0.0.1:$1" "R:127.0.0.1:$2:127.0.0.1:$upstream" \
        >"$dir/client.log" 2>&1 &
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
