#!/usr/bin/env python3
"""Refuses uploads of 30 MiB over HTTP/1.1, and counts the callers that read the reason.

Node's http, Node's fetch, curl, and a socket that sends everything before it reads, ten times each: 413 (the route's maxBody),
403 (the router's policy), 404 (an unknown host), 503 (a runtime without a tunnel) and 507 (an upstream that answers after the
head and closes, so that its socket is reset). Then a caller that never stops sending,
alone and twenty of them at once: prints the bytes that the edge read and the seconds until it ended them. Exits 1 if an answer
was lost.

Needs: python3, node, curl, and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import collections
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from parts import Gateway, culvert

DOMAIN = "culvert.localhost"
TARGETS = {413: ("acme-prod", "/small/"), 403: ("acme-prod", "/denied/"), 404: ("nobody", "/"), 503: ("acme-away", "/"),
           507: ("acme-prod", "/early/")}
BYTES = 30 << 20
ROUTER = """\
  routes:
    - { path: /small/, to: "http://127.0.0.1:9", maxBody: 1MiB }
    - { path: /denied/, to: "http://127.0.0.1:9" }
    - { path: /early/, to: "http://127.0.0.1:EARLY" }
  policy: { requests: { deny: [{ path: /denied/ }] } }
"""
NODE = """
import dns from 'node:dns';
import https from 'node:https';
dns.lookup = (host, options, done) => options.all ? done(null, [{address: '127.0.0.1', family: 4}]) : done(null, '127.0.0.1', 4);
const [, , how, url, bytes, times] = process.argv;
const body = Buffer.alloc(Number(bytes));
const viaHttp = () => new Promise((read, lost) => {
  const request = https.request(url, {method: 'POST', agent: false, headers: {'content-length': body.length}}, answer => {
    answer.resume();
    answer.on('end', () => read(answer.statusCode));
    answer.on('error', lost);
  });
  request.on('error', lost);
  request.end(body);
});
const viaFetch = async () => {
  const answer = await fetch(url, {method: 'POST', body});
  await answer.text();
  return answer.status;
};
for (let i = 0; i < Number(times); i++) {
  console.log(await (how === 'http' ? viaHttp() : viaFetch()).catch(e => e.code ?? e.cause?.code ?? e.message));
}
process.exit(0);
"""


class EarlyUpstream:
    """Answers each request after its head, and closes with the body unread."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                head = b""
                while b"\r\n\r\n" not in head and (part := connection.recv(4096)):
                    head += part
                connection.sendall(b"HTTP/1.1 507 Full\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfull")


class Callers:
    def __init__(self, gateway, folder):
        self.port = gateway.edge
        self.ca = folder / "certs" / "ca.crt"
        self.script = folder / "refused.mjs"
        self.script.write_text(NODE)
        self.body = folder / "body"
        self.body.write_bytes(bytes(BYTES))
        self.tls = ssl.create_default_context(cafile=self.ca)

    def node(self, how, host, path, times):
        url = f"https://{host}:{self.port}{path}"
        return subprocess.run(["node", str(self.script), how, url, str(BYTES), str(times)], capture_output=True, text=True,
                              env={**os.environ, "NODE_EXTRA_CA_CERTS": str(self.ca)}).stdout.split()

    def curl(self, host, path, times):
        """Its status and, if it failed, its exit code."""
        answers = []
        for _ in range(times):
            done = subprocess.run(["curl", "-s", "-o", os.devnull, "-w", "%{http_code}", "--http1.1", "--cacert", str(self.ca),
                                   "--resolve", f"{host}:{self.port}:127.0.0.1", "-H", "Expect:", "--data-binary",
                                   f"@{self.body}", f"https://{host}:{self.port}{path}"], capture_output=True, text=True)
            answers.append(done.stdout if done.returncode == 0 else f"{done.stdout}/exit {done.returncode}")
        return answers

    def connect(self, host):
        raw = socket.create_connection(("127.0.0.1", self.port), 60)
        return self.tls.wrap_socket(raw, server_hostname=host)

    @staticmethod
    def head(host, path, length):
        return f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n".encode()

    def blocking(self, host, path, times):
        answers = []
        for _ in range(times):
            try:
                with self.connect(host) as caller:
                    caller.sendall(self.head(host, path, BYTES) + bytes(BYTES))
                    answers.append(caller.recv(65536).split()[1].decode())
            except OSError as e:
                answers.append(type(e).__name__)
        return answers

    def endless(self, host, counts, i):
        """Counts what one caller sends until the edge ends it."""
        part = bytes(1 << 16)
        began = time.monotonic()
        sent = 0
        try:
            with self.connect(host) as caller:
                caller.sendall(self.head(host, "/", 1 << 40))
                while time.monotonic() - began < 90:
                    caller.sendall(part)
                    sent += len(part)
        except OSError:
            pass
        counts[i] = (sent, time.monotonic() - began)


def endless(callers, count):
    counts = [None] * count
    threads = [threading.Thread(target=callers.endless, args=("nobody." + DOMAIN, counts, i)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(sent for sent, _ in counts) / (1 << 20)
    print(f"{count:3} callers without end: {total:.0f} MiB sent, the last one ended after"
          f" {max(seconds for _, seconds in counts):.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, help="refusals of each kind for each caller")
    parser.add_argument("--folder", type=pathlib.Path, help="keeps configuration and logs there")
    options = parser.parse_args()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="refusals-"))
    folder.mkdir(parents=True, exist_ok=True)
    gateway = Gateway(folder, DOMAIN)
    read = lost = 0
    try:
        gateway.connect(ROUTER.replace("EARLY", str(EarlyUpstream().port)))
        culvert("runtime", "create", "acme", "away", "--admin", f"http://127.0.0.1:{gateway.admin}", "--admin-token-file",
                folder / "admin.token")
        callers = Callers(gateway, folder)
        kinds = {"node http": lambda *a: callers.node("http", *a), "node fetch": lambda *a: callers.node("fetch", *a),
                 "curl": callers.curl, "socket": callers.blocking}
        for kind, send in kinds.items():
            for status, (host, path) in TARGETS.items():
                answers = collections.Counter(send(f"{host}.{DOMAIN}", path, options.times))
                good = answers.pop(str(status), 0)
                read, lost = read + good, lost + options.times - good
                print(f"{kind:10} {status}: {good:3} of {options.times} answers read {dict(answers) or ''}", flush=True)
        print(f"{read} of {read + lost} answers read")
        endless(callers, 1)
        endless(callers, 20)
    finally:
        gateway.end()
    sys.exit(lost > 0)


if __name__ == "__main__":
    main()
