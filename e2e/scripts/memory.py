#!/usr/bin/env python3
"""Uploads more to an upstream that stalls than a small server has memory for, and counts what becomes of it.

500 callers send 10 MiB each through a tunnel server with a heap of 64 MiB and 64 MiB of direct memory. The upstream reads
nothing for a while, then everything. Fails unless the server lives, has seen no OutOfMemoryError, refuses with 503 overloaded
alone, and serves a fresh request within 2 s once the upstream goes on, and again once all callers have left.

Needs: python3, and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import collections
import contextlib
import http.client
import pathlib
import selectors
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from parts import ROOT, Part, free_port

DOMAIN = "memory.test"
HOST = "acme-prod." + DOMAIN
OPTIONS = "-Xmx64m -XX:MaxDirectMemorySize=64m"
PIECE = b"a" * 16384
RECOVERY = 2  # seconds


class Upstream:
    """Reads no body while it stalls; a GET is answered at once."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.port = self.socket.getsockname()[1]
        self.going = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            data = b""
            while True:
                while b"\r\n\r\n" not in data:
                    piece = connection.recv(4096)
                    if not piece:
                        return
                    data += piece
                head, _, data = data.partition(b"\r\n\r\n")
                if head.startswith(b"POST"):
                    self.going.wait()
                    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                                  if line.startswith(b"content-length:"))
                    left = length - len(data)
                    data = b""
                    while left > 0:
                        piece = connection.recv(min(left, 65536))
                        if not piece:
                            return
                        left -= len(piece)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


class Uploads:
    """Callers that send as long as their sockets take something, all of them on a few threads."""

    def __init__(self, port, count, size, tls):
        self.outcomes = collections.Counter()
        self.problems = []
        self.sent = 0
        self.open = 0
        self.lock = threading.Lock()
        self.running = True
        threads = 4
        self.threads = [threading.Thread(target=self.run, args=(port, count // threads, size, tls), daemon=True)
                        for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def run(self, port, count, size, tls):
        selector = selectors.DefaultSelector()
        left = {}
        for _ in range(count):
            try:
                s = tls.wrap_socket(socket.create_connection(("127.0.0.1", port), 30), server_hostname=HOST)
                s.sendall(f"POST / HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {size}\r\n\r\n".encode())
            except OSError as e:
                self.done(f"connect: {type(e).__name__}")
                continue
            s.setblocking(False)
            left[s] = [size, b""]
            selector.register(s, selectors.EVENT_READ | selectors.EVENT_WRITE)
            with self.lock:
                self.open += 1
        while self.running and left:
            moved = False
            for key, events in selector.select(0.2):
                moved |= self.step(selector, left, key.fileobj, events)
            if not moved:
                time.sleep(0.01)
        for s in left:
            # A FIN would wait in this machine's kernel behind what the server does not read: nobody could see it.
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()

    def step(self, selector, left, s, events):
        state = left[s]
        try:
            if events & selectors.EVENT_READ:
                piece = s.recv(4096)
                state[1] += piece
                if not piece or b"\r\n\r\n" in state[1]:
                    return self.finish(selector, left, s, state[1])
            if events & selectors.EVENT_WRITE and state[0] > 0:
                sent = s.send(PIECE[:min(len(PIECE), state[0])])
                state[0] -= sent
                with self.lock:
                    self.sent += sent
                if state[0] == 0:
                    selector.modify(s, selectors.EVENT_READ)
                return True
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError as e:
            return self.finish(selector, left, s, state[1] or type(e).__name__.encode())
        return False

    def finish(self, selector, left, s, answer):
        selector.unregister(s)
        s.close()
        del left[s]
        with self.lock:
            self.open -= 1
        words = answer.decode(errors="replace").split()
        status = words[1] if len(words) > 1 else (words[0] if words else "closed")
        self.done(status)
        if status == "503" and "overloaded" not in answer.decode(errors="replace"):
            self.problems.append(answer[-300:])
        return True

    def done(self, outcome):
        with self.lock:
            self.outcomes[outcome] += 1

    def end(self):
        self.running = False
        for thread in self.threads:
            thread.join()


def fresh(port, tls):
    """How long a request on a fresh connection takes until it succeeds, tried for 20 s; and what was answered before."""
    began = time.monotonic()
    seen = collections.Counter()
    while time.monotonic() - began < 20:
        try:
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=tls, timeout=5)
            connection.request("GET", "/", headers={"Host": HOST})
            status = connection.getresponse().status
            connection.close()
            if status == 200:
                return time.monotonic() - began, seen
            seen[status] += 1
        except (OSError, http.client.HTTPException) as e:
            seen[type(e).__name__] += 1
        time.sleep(0.05)
    return None, seen


def metric(admin, *names):
    text = urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics", timeout=10).read().decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
            if line.startswith(names)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--callers", type=int, default=500)
    arguments.add_argument("--mib", type=int, default=10, help="of each upload (default: 10)")
    arguments.add_argument("--stall", type=float, default=20, help="seconds for which the upstream reads nothing (default: 20)")
    arguments.add_argument("--keep", action="store_true", help="keeps the folder with the logs")
    options = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-memory-"))
    edge, tunnel, admin = free_port(), free_port(), free_port()
    culvert = str(ROOT / "culvert")
    subprocess.run([culvert, "certs", "init", "--dir", str(folder / "certs"), "--domain", DOMAIN], check=True,
                   stdout=subprocess.DEVNULL)
    (folder / "server.yaml").write_text(f"""\
edge: {{ listen: 127.0.0.1:{edge}, domain: {DOMAIN}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }} }}
tunnel:
  listen: 127.0.0.1:{tunnel}
  tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }}
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}
admin: {{ listen: 127.0.0.1:{admin}, tokenFile: admin.token }}
dataDir: data
""")
    upstream = Upstream()
    server = Part("server", folder, "server", "--config", str(folder / "server.yaml"), options=OPTIONS)
    parts = [server]
    faults = []
    try:
        server.wait('"event":"listening"')
        subprocess.run([culvert, "runtime", "create", "acme", "prod", "--token-file", str(folder / "token"), "--admin",
                        f"http://127.0.0.1:{admin}", "--admin-token-file", str(folder / "admin.token")], check=True,
                       stdout=subprocess.DEVNULL)
        client = Part("client", folder, "client", "--server", f"wss://127.0.0.1:{tunnel}", "--server-ca",
                      str(folder / "certs" / "ca.crt"), "--enrolment-token-file", str(folder / "token"),
                      "--identity-dir", str(folder / "identity"), "--health-listen", "127.0.0.1:0", "--to",
                      f"http://127.0.0.1:{upstream.port}")
        parts.append(client)
        client.wait('"event":"connected"')
        tls = ssl.create_default_context()
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
        took, _ = fresh(edge, tls)
        print(f"quiet: a fresh request takes {took * 1000:.0f} ms")
        for end in ("the upstream goes on", "the callers leave"):
            upstream.going.clear()
            uploads = Uploads(edge, options.callers, options.mib << 20, tls)
            peak = collections.Counter()
            until = time.monotonic() + options.stall
            while time.monotonic() < until:
                for name, value in metric(admin, "culvert_memory_budget_bytes", "netty_allocator_memory_used",
                                          "jvm_memory_used_bytes", "culvert_buffered_bytes").items():
                    peak[name] = max(peak[name], value)
                time.sleep(0.5)
            print(f"stalled for {options.stall:.0f} s: {uploads.open} uploads open, {uploads.sent >> 20} MiB taken,"
                  f" ended: {dict(uploads.outcomes)}")
            for name, value in sorted(peak.items()):
                print(f"  peak {name}: {value / (1 << 20):.1f} MiB")
            if set(uploads.outcomes) - {"503"}:
                faults.append(f"uploads ended otherwise than with 503: {dict(uploads.outcomes)}")
            if uploads.problems:
                faults.append(f"503 that is not overloaded: {uploads.problems[0]!r}")
            if end == "the upstream goes on":
                upstream.going.set()
            else:
                uploads.end()
            took, seen = fresh(edge, tls)
            print(f"{end}: a fresh request succeeds after {'20 s and more' if took is None else f'{took:.2f} s'}"
                  f"{f', before that {dict(seen)}' if seen else ''}")
            if took is None or took > RECOVERY:
                faults.append(f"{end}: no fresh request within {RECOVERY} s")
            ended = time.monotonic()
            deadline = ended + 180
            while uploads.running and uploads.open and time.monotonic() < deadline:
                time.sleep(0.1)
            print(f"  uploads at the end, {time.monotonic() - ended:.0f} s later: {dict(uploads.outcomes)}, {uploads.open} open")
            if end == "the upstream goes on" and uploads.open:
                faults.append(f"{uploads.open} uploads do not end")
            uploads.end()
            time.sleep(1)
            if server.process.poll() is not None:
                faults.append("the server died")
                break
    finally:
        for part in reversed(parts):
            part.end()
    for log in folder.glob("*.log"):
        text = log.read_text(errors="replace")
        if "OutOf" in text:
            faults.append(f"{log.name}: {text[text.index('OutOf'):][:200]}")
    print(f"logs: {folder}" if options.keep or faults else "no OutOfMemoryError")
    if not options.keep and not faults:
        shutil.rmtree(folder)
    for fault in faults:
        print(f"FAILED: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
