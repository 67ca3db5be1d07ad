#!/usr/bin/env python3
"""Holds 1,000 slow connections against the edge while callers go about their business, and compares their latencies.

slowhttptest sends heads, then bodies, slowly (-H, -B), reads slowly (-X) and asks for many ranges (-R), each for a minute, while
callers ask for a small file at a steady rate. Prints for each the p99 of the callers, that of a quiet minute before, and the
ratio; exits 1 if one is above 2, or if a caller's request failed.

Needs: slowhttptest, python3, and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import http.client
import http.server
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from parts import ROOT, Part, free_port, percentile

DOMAIN = "culvert.localhost"
# slowhttptest takes the Host from its URL, and names below localhost are this machine.
HOST = "acme-prod." + DOMAIN
LARGE = b"a" * (1 << 20)
RATIO = 2
ATTACKS = {
    "slow heads": ["-H", "-i", "10", "-x", "24"],
    "slow bodies": ["-B", "-i", "10", "-s", "8192", "-x", "10"],
    "slow readers": ["-X", "-w", "512", "-y", "1024", "-n", "5", "-z", "32", "-k", "3"],
    "ranges": ["-R", "-a", "10", "-b", "3000"],
}


class Answers(http.server.BaseHTTPRequestHandler):
    """The upstream: a small file, and a large one."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # it writes a head and its body apart

    def do_GET(self):
        body = LARGE if self.path.startswith("/large") else b"ok"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def do_POST(self):
        left = int(self.headers.get("Content-Length", 0))
        while left > 0 and (piece := self.rfile.read(min(left, 65536))):
            left -= len(piece)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Upstream(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 2048

    def handle_error(self, request, client_address):
        pass  # callers that are cut break their connections here


class Callers:
    """Callers that each ask at fixed moments, so that a slow answer does not lower the rate."""

    def __init__(self, port, count, rate):
        self.port = port
        self.pause = count / rate
        self.latencies = []
        self.failures = []
        self.running = True
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE
        self.threads = [threading.Thread(target=self.call, args=(i * self.pause / count,), daemon=True)
                        for i in range(count)]
        for thread in self.threads:
            thread.start()

    def call(self, delay):
        connection = None
        due = time.monotonic() + delay
        while self.running:
            time.sleep(max(0, due - time.monotonic()))
            began = max(due, time.monotonic() - 1)
            due = max(due + self.pause, time.monotonic())
            try:
                if connection is None:
                    connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=30)
                connection.request("GET", "/small", headers={"Host": HOST})
                response = connection.getresponse()
                response.read()
                if response.status == 200:
                    self.latencies.append(time.monotonic() - began)
                else:
                    self.failures.append(str(response.status))
                if response.will_close:
                    connection.close()
                    connection = None
            except (OSError, http.client.HTTPException) as e:
                self.failures.append(repr(e))
                connection.close()
                connection = None

    def take(self):
        """What was measured since the last call."""
        latencies, failures = self.latencies, self.failures
        self.latencies, self.failures = [], []
        return latencies, failures

    def end(self):
        self.running = False
        for thread in self.threads:
            thread.join()


def start(folder, port):
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
    parts = [Part("server", folder, "server", "--config", str(folder / "server.yaml"))]
    parts[0].wait('"event":"listening"')
    subprocess.run([culvert, "runtime", "create", "acme", "prod", "--token-file", str(folder / "token"), "--admin",
                    f"http://127.0.0.1:{admin}", "--admin-token-file", str(folder / "admin.token")], check=True,
                   stdout=subprocess.DEVNULL)
    parts.append(Part("client", folder, "client", "--server", f"wss://127.0.0.1:{tunnel}", "--server-ca",
                      str(folder / "certs" / "ca.crt"), "--enrolment-token-file", str(folder / "token"),
                      "--identity-dir", str(folder / "identity"), "--health-listen", "127.0.0.1:0", "--to",
                      f"http://127.0.0.1:{port}"))
    parts[1].wait('"event":"connected"')
    return edge, parts


def attack(flags, edge, connections, seconds, log):
    """Runs slowhttptest for its time, and then ends it: with its connections closed it would stop early."""
    url = f"https://{HOST}:{edge}/large"
    command = ["slowhttptest", *flags, "-c", str(connections), "-r", str(max(50, connections // 5)), "-l", str(seconds),
               "-p", "5", "-u", url]
    with open(log, "w") as out:
        began = time.monotonic()
        while (left := began + seconds - time.monotonic()) > 1:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            try:
                process.wait(left)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--connections", type=int, default=1000)
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--callers", type=int, default=16)
    arguments.add_argument("--rate", type=int, default=200, help="requests per second of all callers (default: 200)")
    options = arguments.parse_args()
    if not shutil.which("slowhttptest"):
        sys.exit("slowhttptest is missing: apt-get install slowhttptest")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-slow-"))
    upstream = Upstream(("127.0.0.1", 0), Answers)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    edge, parts = start(folder, upstream.server_address[1])
    faults = []
    try:
        callers = Callers(edge, options.callers, options.rate)
        time.sleep(min(30, options.seconds))  # until the compilers have done most
        callers.take()
        time.sleep(options.seconds)
        latencies, failures = callers.take()
        quiet = percentile(latencies, 0.99)
        print(f"{'':14} {'requests':>8} {'failed':>6} {'p50 ms':>8} {'p99 ms':>8} {'ratio':>6}")
        print(f"{'quiet':14} {len(latencies):8} {len(failures):6} {percentile(latencies, 0.5) * 1000:8.2f}"
              f" {quiet * 1000:8.2f}", flush=True)
        for name, flags in ATTACKS.items():
            attack(flags, edge, options.connections, options.seconds, folder / (name.replace(" ", "-") + ".log"))
            latencies, failures = callers.take()
            p99 = percentile(latencies, 0.99)
            print(f"{name:14} {len(latencies):8} {len(failures):6} {percentile(latencies, 0.5) * 1000:8.2f}"
                  f" {p99 * 1000:8.2f} {p99 / quiet:6.2f}", flush=True)
            if p99 > RATIO * quiet:
                faults.append(f"{name}: p99 is {p99 / quiet:.2f} times that of the quiet minute")
            if failures:
                faults.append(f"{name}: {len(failures)} requests failed, the first: {failures[0]}")
            time.sleep(2)
            callers.take()
        callers.end()
    finally:
        for part in reversed(parts):
            part.end()
    print(f"logs: {folder}")
    for fault in faults:
        print(f"FAILED: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
