#!/usr/bin/env python3
"""Counts what a small request costs: bytes of heap and system calls, of the server and of the client.

One caller with one connection sends GETs over HTTP/1.1. Heap: what 4,000 of them leave in a young generation that is large
enough for them, five times, the median. System calls: strace -f -c. Run it in two trees and compare.

Needs: python3, strace, ./culvert of this repository, a JDK 25 as JAVA_HOME (for jcmd).
"""
import argparse
import http.client
import http.server
import os
import pathlib
import re
import ssl
import subprocess
import tempfile
import threading
import time

import parts

DOMAIN = "cost.test"
HEAP = "-Xms512m -Xmx512m -Xmn400m"
HEAP_REQUESTS = 4000


class Upstream:
    """Answers each GET with 200 bytes."""

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", "200")
                self.end_headers()
                self.wfile.write(b"x" * 200)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Caller:
    def __init__(self, port):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)

    def call(self, count):
        for _ in range(count):
            self.connection.request("GET", "/f", headers={"Host": "acme-prod." + DOMAIN})
            answer = self.connection.getresponse()
            body = answer.read()
            if answer.status != 200 or len(body) != 200:
                raise SystemExit(f"{answer.status} {body[:200]}")


def jcmd(pid, command):
    tool = pathlib.Path(os.environ["JAVA_HOME"]) / "bin" / "jcmd"
    return subprocess.run([tool, str(pid), command], check=True, capture_output=True, text=True).stdout


def used(pid):
    """Bytes of the young generation that are in use; nothing leaves it without a collection."""
    return 1024 * int(re.search(r"used (\d+)K", jcmd(pid, "GC.heap_info")).group(1))


def allocated(pid, run):
    """The bytes that a process allocates meanwhile, without what the measure itself and an idle process take."""
    def grown(action):
        jcmd(pid, "GC.run")
        before = used(pid)
        began = time.monotonic()
        action()
        seconds = time.monotonic() - began
        return used(pid) - before, seconds
    busy, seconds = grown(run)
    idle, _ = grown(lambda: time.sleep(seconds))
    return busy - idle


def java(process):
    """The JVM of a part, which ./culvert may have started as a child."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(children[0]) if children else process.pid


def calls(pid, run):
    """The system calls of a process meanwhile."""
    with tempfile.NamedTemporaryFile() as counts:
        tracer = subprocess.Popen(["strace", "-f", "-c", "-o", counts.name, "-p", str(pid)], stderr=subprocess.DEVNULL)
        time.sleep(2)
        run()
        tracer.terminate()
        tracer.wait(30)
        text = pathlib.Path(counts.name).read_text()
    # seconds, usecs/call and calls precede the name; errors may stand between
    rows = re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", text, re.M)
    return {name: int(count) for count, name in rows if name != "total"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--requests", type=int, default=10_000)
    arguments.add_argument("--warm-up", type=int, default=20_000)
    options = arguments.parse_args()
    upstream = Upstream()
    with tempfile.TemporaryDirectory() as folder:
        gateway = parts.Gateway(pathlib.Path(folder), DOMAIN, options=HEAP)
        try:
            gateway.connect(f"  routes:\n  - {{ path: /, to: 'http://127.0.0.1:{upstream.port}' }}\n")
            caller = Caller(gateway.edge)
            caller.call(options.warm_up)
            pids = {name: java(gateway.parts[name].process) for name in ("server", "client")}
            for name, pid in pids.items():
                heap = [allocated(pid, lambda: caller.call(HEAP_REQUESTS)) / HEAP_REQUESTS for _ in range(5)]
                print(f"{name}: {sorted(heap)[2]:.0f} bytes of heap a request ({min(heap):.0f} to {max(heap):.0f})")
            for name, pid in pids.items():
                counted = calls(pid, lambda: caller.call(options.requests))
                io = {call: count for call, count in counted.items() if call not in ("futex", "sched_yield")}
                named = ", ".join(f"{call} {count / options.requests:.3f}" for call, count in
                                  sorted(io.items(), key=lambda one: -one[1])[:6])
                print(f"{name}: {sum(io.values()) / options.requests:.3f} system calls a request without futex ({named})")
        finally:
            gateway.end()


if __name__ == "__main__":
    main()
