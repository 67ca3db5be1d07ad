#!/bin/sh
# piko as a target of `culvert bench compare --targets script:benchmarks/targets/piko.sh`: one server node and an
# agent with an HTTP endpoint, without TLS, which is its default. Needs piko 0.6 or newer. ScriptTarget.java has
# the protocol of these scripts.
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
    need piko
    dir=$2
    upstream=${1##*/}
    # shellcheck disable=SC2086 # ports are words
    set -- $BENCH_PORTS
    piko server --proxy.bind-addr "127.0.0.1:$1" --upstream.bind-addr "127.0.0.1:$2" \
        --admin.bind-addr "127.0.0.1:$3" --cluster.gossip.bind-addr "127.0.0.1:$4" --usage.disable \
        --log.level error >"$dir/server.log" 2>&1 &
    echo $! >"$dir/pids"
    piko agent http bench "$upstream" --connect.url "http://127.0.0.1:$2" --server.bind-addr "127.0.0.1:$5" \
        --log.level error >"$dir/agent.log" 2>&1 &
    echo $! >>"$dir/pids"
    echo "url=http://127.0.0.1:$1"
    echo "host=bench.piko.localhost" # its first label names the endpoint
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
