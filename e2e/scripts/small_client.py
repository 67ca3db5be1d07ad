#!/usr/bin/env python3
"""A client with its router in a container of little memory: is it killed?

Each round starts a client in a control group with a limit of memory, and sends through it: 60 MB down, 60 MB up, 600 GETs
by 40 callers, and 60 MB down by 4 callers at once. Fails if the kernel killed the client, or an answer was wrong. Prints
what the group held when idle and at most.

Needs: root, control groups (version 1 or 2) in which groups can be made, python3, ./culvert of this repository.
"""
import argparse
import concurrent.futures
import http.client
import http.server
import pathlib
import shutil
import ssl
import sys
import tempfile
import threading
import time

from parts import DONE, FAILED, Gateway, check

LARGE = 60_000_000
PIECE = b"x" * 65536
DOMAIN = "small.test"
V1 = pathlib.Path("/sys/fs/cgroup/memory")
V2 = pathlib.Path("/sys/fs/cgroup")


class Group:
    """A control group with a limit of memory, without swap where the kernel counts it."""

    def __init__(self, name, limit):
        self.one = (V1 / "memory.limit_in_bytes").exists()
        self.folder = (V1 if self.one else V2) / name
        self.folder.mkdir()
        self.write("memory.limit_in_bytes" if self.one else "memory.max", limit)

    def write(self, file, value):
        (self.folder / file).write_text(str(value))

    def read(self, file):
        return (self.folder / file).read_text()

    def held(self):
        """Bytes that can't be dropped: without the cache of files."""
        facts = dict(line.split() for line in self.read("memory.stat").splitlines())
        return int(facts["total_rss"] if self.one else facts["anon"])

    def kills(self):
        facts = dict(line.split() for line in self.read("memory.oom_control" if self.one else "memory.events").splitlines())
        return int(facts["oom_kill"])

    def remove(self):
        for _ in range(50):
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.1)


class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        size = LARGE if self.path == "/large" else 200
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        while size:
            size -= self.wfile.write(PIECE[:min(size, len(PIECE))])

    def do_PUT(self):
        left = int(self.headers["Content-Length"])
        while left:
            left -= len(self.rfile.read(min(left, len(PIECE))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def call(gateway, method, path, body=None):
    """Sends a request through the edge, and returns the size of its answer; -1 for none."""
    context = ssl.create_default_context(cafile=gateway.folder / "certs/ca.crt")
    context.check_hostname = False
    connection = http.client.HTTPSConnection("127.0.0.1", gateway.edge, timeout=60, context=context)
    try:
        connection.request(method, path, body, {"Host": "acme-prod." + DOMAIN})
        answer = connection.getresponse()
        size = 0
        while piece := answer.read(65536):
            size += len(piece)
        return size if answer.status == 200 else -1
    except (OSError, http.client.HTTPException):
        return -1
    finally:
        connection.close()


def at_once(callers, times, work):
    with concurrent.futures.ThreadPoolExecutor(callers) as pool:
        return [each.result() for each in [pool.submit(work) for _ in range(times)]]


def sample(group, high, ended):
    while not ended.wait(0.02):
        high[0] = max(high[0], group.held())


def judge(number, gateway, group, part):
    idle = group.held()
    high, ended = [idle], threading.Event()
    sampler = threading.Thread(target=sample, args=(group, high, ended))
    sampler.start()
    results = {
        "60 MB down": [call(gateway, "GET", "/large") == LARGE],
        "60 MB up": [call(gateway, "PUT", "/up", b"u" * LARGE) == 0],
        "600 GETs by 40 callers": [size == 200 for size in at_once(40, 600, lambda: call(gateway, "GET", "/"))],
        "60 MB down, 4 at once": [size == LARGE for size in at_once(4, 4, lambda: call(gateway, "GET", "/large"))],
    }
    ended.set()
    sampler.join()
    alive = gateway.parts[part].process.poll() is None
    wrong = {what: f"{len(right) - sum(right)} of {len(right)} wrong" for what, right in results.items() if not all(right)}
    check(f"round {number}", alive and not wrong and group.kills() == 0,
          f"{'alive' if alive else 'ended'}, killed {group.kills()} times, {wrong}")
    print(f"     idle {idle >> 20} MiB, at most {high[0] >> 20} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=128, help="MiB")
    parser.add_argument("--part", choices=["client", "server"], default="client", help="which one has the limit")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--options", default="", help="options of the JVM, beside those of the launcher")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for number in range(1, options.rounds + 1):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="small-"))
        group = Group(f"culvert-small-{folder.name}", options.limit << 20)
        gateway = Gateway(folder, DOMAIN, options.options)
        try:
            gateway.connect(f'  routes: [{{ path: /, to: "http://127.0.0.1:{server.server_address[1]}" }}]\n',
                            **{options.part: group.folder})
            time.sleep(2)  # until compilers have done what a start asks of them
            judge(number, gateway, group, options.part)
        finally:
            gateway.end()
            group.remove()
        shutil.rmtree(folder)
    sys.exit(f"{len(FAILED)} of {len(DONE)} failed" if FAILED else None)


if __name__ == "__main__":
    main()
