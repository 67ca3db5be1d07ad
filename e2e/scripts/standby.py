#!/usr/bin/env python3
"""Ends the owner of a runtime again and again while a second client waits, and counts what callers notice.

Two clients with standby: wait serve one runtime. 64 callers ask for a small file, one request after another. The owner
is ended in three ways, ten times each: SIGTERM, SIGKILL, and silence (SIGSTOP, then SIGKILL once the server has promoted
the other one). Each time the other one has to serve, and the ended one comes back and waits. Then both are replaced one
after the other, as in a rolling update, under the same callers and 50 open WebSockets.

Prints for each way the failed requests, the longest request, and how long after the owner's end the server promoted.
Exits 1 if a request failed at SIGTERM or SIGKILL or took more than 5 s there, the server promoted later than 1 s after it
had seen the owner's end, an owner changed without a cause, or a WebSocket ended without Close 1001.

Needs: nginx, python3, and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import base64
import contextlib
import hashlib
import os
import pathlib
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

from handover import Load, write_nginx
from parts import Gateway, Part, culvert, free_port

DOMAIN = "handover.test"
HOST = "acme-prod." + DOMAIN
WITHIN = 1.0  # seconds from the end of the owner, as the server sees it, to the promotion
HELD = 5.0  # seconds
SEEN = 16  # seconds until the server sees that the owner is silent
START = 60  # seconds for a process to start


def echo(port_of):
    """A WebSocket upstream that accepts and then only answers the close."""
    listener = socket.create_server(("127.0.0.1", 0))
    port_of.append(listener.getsockname()[1])

    def serve(connection):
        with contextlib.closing(connection):
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(4096)
                if not piece:
                    return
                head += piece
            key = re.search(rb"(?im)^sec-websocket-key: *(\S+)", head)
            accept = base64.b64encode(hashlib.sha1(
                key.group(1) + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            with contextlib.suppress(OSError):
                while connection.recv(4096):
                    pass

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


class WebSockets:
    """Open WebSockets through the edge, and how each ended."""

    def __init__(self, port, count):
        self.endings = []
        self.lock = threading.Lock()
        tls = ssl.create_default_context()
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
        self.threads = []
        for _ in range(count):
            raw = tls.wrap_socket(socket.create_connection(("127.0.0.1", port)))
            raw.sendall((f"GET /ws/ HTTP/1.1\r\nHost: {HOST}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
                         + base64.b64encode(os.urandom(16)).decode() + "\r\n\r\n").encode())
            head = b""
            while b"\r\n\r\n" not in head:
                head += raw.recv(1)
            if b" 101 " not in head.split(b"\r\n")[0]:
                sys.exit(f"no WebSocket: {head!r}")
            thread = threading.Thread(target=self.wait, args=(raw,), daemon=True)
            thread.start()
            self.threads.append(thread)

    def wait(self, raw):
        data = b""
        with contextlib.suppress(OSError):
            while piece := raw.recv(4096):
                data += piece
        ending = "cut"
        if len(data) >= 4 and data[0] == 0x88:
            ending = "close " + str(struct.unpack(">H", data[2:4])[0])
        with self.lock:
            self.endings.append(ending)

    def join(self, timeout):
        end = time.monotonic() + timeout
        for thread in self.threads:
            thread.join(max(0.0, end - time.monotonic()))


class Rig(Gateway):
    def __init__(self, folder):
        super().__init__(folder, DOMAIN)
        self.upstream = free_port()
        write_nginx(folder, self.upstream)
        os.chmod(folder, 0o711)  # nginx's workers may not be ours
        self.nginx = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)])
        ws = []
        echo(ws)
        self.start("server", "listening")
        self.server = self.parts["server"]
        self.health = {}
        self.clients = {}
        for name in ("a", "b"):
            self.health[name] = free_port()
            token = folder / (name + ".token")
            if name == "a":
                culvert("runtime", "create", "acme", "prod", "--token-file", token, *self.api())
            else:
                culvert("runtime", "enrol-token", "acme", "prod", "--token-file", token, *self.api())
            (folder / (name + ".yaml")).write_text(f"""\
server: wss://localhost:{self.tunnel}
enrolmentTokenFile: {name}.token
identityDir: identity-{name}
health: {{ listen: 127.0.0.1:{self.health[name]} }}
standby: wait
router:
  routes:
    - {{ path: /ws/, to: "http://127.0.0.1:{ws[0]}" }}
    - {{ path: /, to: "http://127.0.0.1:{self.upstream}" }}
""")

    def api(self):
        return "--admin", f"http://127.0.0.1:{self.admin}", "--admin-token-file", self.folder / "admin.token"

    def start_client(self, name, event):
        self.clients[name] = Part("client-" + name, self.folder, "client", "--config",
                                  str(self.folder / (name + ".yaml")))
        self.clients[name].wait(f'"event":"{event}"', START)

    def promoted(self, since):
        at = self.server.find("client promoted", since, SEEN + HELD)
        if at is None:
            sys.exit(f"no promotion; see {self.server.log.name}")
        return at

    def promotions(self):
        return sum("client promoted" in line for _, line in self.server.lines)

    def close(self):
        for part in [*self.clients.values(), self.server]:
            part.process.kill()
        self.nginx.terminate()


def round_of(rig, way, owner, other, load):
    """Ends the owner, and starts it again. Returns the delays of the promotion, and the failures since."""
    process = rig.clients[owner].process
    failed = len(load.failures)
    began = time.monotonic()
    process.send_signal({"SIGTERM": signal.SIGTERM, "SIGKILL": signal.SIGKILL, "silence": signal.SIGSTOP}[way])
    promoted = rig.promoted(began)
    if way == "silence":
        # The server has seen the silence when it closes the owner's last session.
        seen = max(at for at, line in rig.server.lines if "session closed" in line and began <= at <= promoted + 0.5)
        process.kill()
    else:
        seen = began
    process.wait(40)
    rig.clients[other].find("tunnel opened", began, HELD)
    time.sleep(0.5)
    rig.start_client(owner, "waiting")
    time.sleep(0.5)
    return promoted - seen, promoted - began, load.failures[failed:]


def ends(rig, rounds, callers):
    rig.start_client("a", "connected")
    rig.start_client("b", "waiting")
    ok = True
    owner, other = "a", "b"
    count = rig.promotions()
    for way in ("SIGTERM", "SIGKILL", "silence"):
        load = Load(rig.edge, callers)
        time.sleep(1)
        lates, delays, failures = [], [], []
        for _ in range(rounds):
            late, delay, failed = round_of(rig, way, owner, other, load)
            lates.append(late)
            delays.append(delay)
            failures += failed
            owner, other = other, owner
        load.end()
        longest = max(load.latencies)
        print(f"{way}: {len(load.latencies)} requests, {len(load.failures)} failed, longest {longest:.2f} s; promoted"
              f" {len(lates)} of {rounds}, at most {max(lates):.2f} s after the end was seen,"
              f" {max(delays):.2f} s after it", flush=True)
        for at, failure in load.failures[:3]:
            print("  ", failure[:200])
        ok = ok and max(lates) <= WITHIN
        if way != "silence":
            ok = ok and not load.failures and longest <= HELD
    flaps = rig.promotions() - count - 3 * rounds
    print(f"promotions without a cause: {flaps}")
    return ok and flaps == 0, owner, other


def rolling(rig, owner, other, callers):
    load = Load(rig.edge, callers)
    sockets = WebSockets(rig.edge, 50)
    time.sleep(1)
    for name in (owner, other):
        before = rig.clients[name]
        before.process.send_signal(signal.SIGTERM)
        before.process.wait(60)
        rig.start_client(name, "waiting")
    sockets.join(40)
    load.end()
    endings = {ending: sockets.endings.count(ending) for ending in sorted(set(sockets.endings))}
    print(f"rolling update: {len(load.latencies)} requests, {len(load.failures)} failed, longest"
          f" {max(load.latencies):.2f} s; WebSockets: {endings}", flush=True)
    for at, failure in load.failures[:3]:
        print("  ", failure[:200])
    return not load.failures and endings == {"close 1001": 50}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--rounds", type=int, default=10)
    arguments.add_argument("--callers", type=int, default=64)
    given = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-standby-"))
    rig = Rig(folder)
    try:
        ok, owner, other = ends(rig, given.rounds, given.callers)
        ok = rolling(rig, owner, other, given.callers) and ok
    finally:
        rig.close()
        print(f"logs: {folder}")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
