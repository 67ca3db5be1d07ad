#!/usr/bin/env python3
"""Loses no webhook while everything behind it comes and goes.

Signed deliveries in the shape of GitHub's are sent at a steady rate to several event sources, those of one source one after
another. Meanwhile, in random order, the tunnel is cut 20 times, the client killed 5 times, the server killed (SIGKILL) 5
times, and the event sources are down for 30 s. Then everything is left alone until nothing is pending. Every delivery that
was answered 2xx must have arrived, byte for byte with a valid signature, first arrivals in the order of their source unless
the inbox says outOfOrder. Prints what was sent, answered and repeated; exits 1 if one is missing, altered or out of order.

Needs: python3 and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import collections
import hashlib
import hmac
import http.client
import http.server
import json
import pathlib
import queue
import random
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from parts import ROOT, Part, free_port, percentile

DOMAIN = "webhooks.test"
HOST = "acme-prod." + DOMAIN
SECRET = b"correct horse battery staple"
OPENED = 40  # seconds; a client that lost its tunnel is back long before


class EventSources:
    """All event sources of the cluster on one port; what reaches them is kept."""

    def __init__(self):
        self.port = free_port()
        self.lock = threading.Lock()
        self.arrivals = collections.defaultdict(list)  # delivery -> [(when, attempt, webhook id)]
        self.order = collections.defaultdict(list)  # source -> deliveries as they came first
        self.wrong = []
        self.server = None
        self.up()

    def up(self):
        sources = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                sources.take(self.path, self.headers, body)
                self.send_response(200)
                self.send_header("Content-Length", "7")
                self.end_headers()
                self.wfile.write(b"success")

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024
            allow_reuse_address = True

            def handle_error(self, request, client_address):
                pass  # the tunnel client was killed

            def process_request(self, request, client_address):
                with sources.lock:
                    sources.open.add(request)
                super().process_request(request, client_address)

            def shutdown_request(self, request):
                with sources.lock:
                    sources.open.discard(request)
                super().shutdown_request(request)

        self.open = set()
        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def down(self):
        self.server.shutdown()
        self.server.server_close()
        with self.lock:
            still = list(self.open)
        for connection in still:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def take(self, path, fields, body):
        delivery = fields["X-GitHub-Delivery"]
        signature = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        with self.lock:
            if fields["X-Hub-Signature-256"] != signature or json.loads(body)["delivery"] != delivery:
                self.wrong.append(f"{delivery}: signature or body")
            if not fields.get("Culvert-Delivery-Attempt", "").isdigit() or not fields.get("Culvert-Webhook-Id"):
                self.wrong.append(f"{delivery}: no attempt number or id")
            if delivery not in self.arrivals:
                self.order[path].append(delivery)
            self.arrivals[delivery].append((time.monotonic(), int(fields["Culvert-Delivery-Attempt"]),
                                            fields["Culvert-Webhook-Id"]))


class Sender:
    """Sends each source's deliveries one after another, when they are due or as soon after that as their source lets it."""

    def __init__(self, port, count, rate, sources, size):
        self.port = port
        self.size = size
        self.lock = threading.Lock()
        self.answered = {}  # delivery -> (status, webhook id)
        self.sent = collections.defaultdict(list)  # path -> deliveries answered 2xx, in order
        self.failed = collections.Counter()
        self.latencies = []
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE
        began = time.monotonic()
        lines = [queue.SimpleQueue() for _ in range(sources)]
        for number in range(count):
            lines[number % sources].put((began + number / rate, number))
        self.threads = [threading.Thread(target=self.run, args=(f"/webhooks/ci/github-{i}/push", line), daemon=True)
                        for i, line in enumerate(lines)]
        for thread in self.threads:
            thread.start()

    def run(self, path, line):
        connection = None
        while not line.empty():
            due, number = line.get()
            time.sleep(max(0, due - time.monotonic()))
            delivery = f"delivery-{number}"
            body = json.dumps({"delivery": delivery, "ref": "refs/heads/main", "pad": "x" * self.size}).encode()
            fields = {"Host": HOST, "Content-Type": "application/json", "X-GitHub-Event": "push",
                      "X-GitHub-Delivery": delivery, "User-Agent": "GitHub-Hookshot/test",
                      "X-Hub-Signature-256": "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()}
            began = time.monotonic()
            try:
                if connection is None:
                    connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=30)
                connection.request("POST", path, body, fields)
                response = connection.getresponse()
                response.read()
                status = response.status
                with self.lock:
                    self.latencies.append(time.monotonic() - began)
                    if 200 <= status < 300:
                        self.answered[delivery] = (status, response.headers["Culvert-Webhook-Id"])
                        self.sent[path].append(delivery)
                    else:
                        self.failed[str(status)] += 1
                if response.will_close:
                    connection.close()
                    connection = None
            except (OSError, http.client.HTTPException) as e:
                with self.lock:
                    self.failed[type(e).__name__] += 1
                if connection is not None:
                    connection.close()
                connection = None

    def running(self):
        return any(thread.is_alive() for thread in self.threads)


class Cable:
    """A port in front of the tunnel listener whose connections can be cut."""

    def __init__(self, to):
        self.to = to
        self.lock = threading.Lock()
        self.pairs = set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.to), 5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.pairs.add((near, far))
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self.copy, args=(source, target, (near, far)), daemon=True).start()

    def copy(self, source, target, pair):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
        except OSError:
            pass
        self.drop(pair)

    def drop(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for one in pair:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self.drop(pair)
        return len(pairs)


class Platform:
    def __init__(self, folder):
        self.folder = folder
        self.edge, self.tunnel, self.admin = free_port(), free_port(), free_port()
        self.sources = EventSources()
        self.cable = Cable(self.tunnel)
        culvert = str(ROOT / "culvert")
        subprocess.run([culvert, "certs", "init", "--dir", str(folder / "certs"), "--domain", DOMAIN], check=True,
                       stdout=subprocess.DEVNULL)
        (folder / "server.yaml").write_text(f"""\
edge: {{ listen: 127.0.0.1:{self.edge}, domain: {DOMAIN}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }} }}
tunnel:
  listen: 127.0.0.1:{self.tunnel}
  tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }}
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}
admin: {{ listen: 127.0.0.1:{self.admin}, tokenFile: admin.token }}
dataDir: data
""")
        (folder / "client.yaml").write_text(f"""\
server: wss://127.0.0.1:{self.cable.port}
serverCa: certs/ca.crt
enrolmentTokenFile: token
identityDir: identity
health: {{ listen: "127.0.0.1:0" }}
router:
  routes:
    - {{ path: "/webhooks/{{namespace}}/{{eventSource}}/", to: "http://{{eventSource}}.{{namespace}}.test:{self.sources.port}", delivery: durable }}
  policy: {{ webhooks: {{ allow: ["ci/*"] }} }}
  resolve: {{ {", ".join(f'"github-{i}.ci.test": "127.0.0.1:{self.sources.port}"' for i in range(64))} }}
""")
        self.server = self.start_server()
        subprocess.run([culvert, "runtime", "create", "acme", "prod", "--token-file", str(folder / "token"), "--admin",
                        f"http://127.0.0.1:{self.admin}", "--admin-token-file", str(folder / "admin.token")], check=True,
                       stdout=subprocess.DEVNULL)
        self.client = self.start_client()

    def start_server(self):
        part = Part("server", self.folder, "server", "--config", str(self.folder / "server.yaml"))
        part.wait('"event":"listening"')
        return part

    def start_client(self):
        part = Part("client", self.folder, "client", "--config", str(self.folder / "client.yaml"))
        part.wait('"event":"connected"')
        return part

    def kill_server(self):
        self.server.process.kill()
        self.server.process.wait()
        at = time.monotonic()
        self.server = self.start_server()
        self.client.find('"event":"connected"', at, OPENED)

    def kill_client(self):
        self.client.process.kill()
        self.client.process.wait()
        self.client = self.start_client()

    def cut_tunnel(self):
        at = time.monotonic()
        if not self.cable.cut():
            sys.exit("nothing to cut")
        self.client.find('"event":"connected"', at, OPENED)

    def sources_down(self):
        self.sources.down()
        time.sleep(30)
        self.sources.up()

    def api(self, path):
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin}/api/v1{path}", headers={
            "Authorization": "Bearer " + (self.folder / "admin.token").read_text().strip()})
        return json.load(urllib.request.urlopen(request, timeout=30))

    def end(self):
        for part in (self.client, self.server):
            part.end()


def unordered(platform, sender):
    """Deliveries that came first in another order than they were sent in, though the inbox does not say so."""
    faults = []
    for path, sent in sender.sent.items():
        place = {delivery: at for at, delivery in enumerate(platform.sources.order[path])}
        newest = -1
        for delivery in sent:
            at = place.get(delivery)
            if at is None:
                continue  # told elsewhere
            if at < newest:
                if not platform.api("/webhooks/" + sender.answered[delivery][1])["outOfOrder"]:
                    faults.append(delivery)
            newest = max(newest, at)
    return faults


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--deliveries", type=int, default=20_000)
    arguments.add_argument("--rate", type=int, default=200, help="a second (default: 200)")
    arguments.add_argument("--sources", type=int, default=32, help="event sources, at most 64 (default: 32)")
    arguments.add_argument("--bytes", type=int, default=1024, help="of each body, about (default: 1024)")
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="of the order of events")
    options = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-webhooks-"))
    platform = Platform(folder)
    faults = []
    try:
        events = ["cut_tunnel"] * 20 + ["kill_client"] * 5 + ["kill_server"] * 5 + ["sources_down"]
        random.Random(options.seed).shuffle(events)
        began = time.monotonic()
        sender = Sender(platform.edge, options.deliveries, options.rate, options.sources, options.bytes)
        length = options.deliveries / options.rate
        for number, event in enumerate(events):
            time.sleep(max(0.5, began + (number + 1) * length / (len(events) + 1) - time.monotonic()))
            getattr(platform, event)()
        while sender.running():
            time.sleep(0.2)
        took = time.monotonic() - began
        deadline = time.monotonic() + 300
        while platform.api("/webhooks?state=pending&limit=1")["items"] and time.monotonic() < deadline:
            time.sleep(1)
        drained = time.monotonic() - began - took
        arrivals = platform.sources.arrivals
        missing = [delivery for delivery in sender.answered if delivery not in arrivals]
        repeats = sum(len(all) - 1 for all in arrivals.values())
        attempts = collections.Counter(attempt for all in arrivals.values() for _, attempt, _ in all)
        late = unordered(platform, sender)
        statuses = collections.Counter(status for status, _ in sender.answered.values())
        print(f"seed {options.seed}: {', '.join(f'{events.count(e)} x {e}' for e in dict.fromkeys(events))}")
        print(f"sent {options.deliveries} in {took:.0f} s; answered 2xx: {len(sender.answered)} {dict(statuses)}; "
              f"not: {dict(sender.failed)}")
        print(f"answers: p50 {percentile(sender.latencies, .5) * 1000:.0f} ms, p99 {percentile(sender.latencies, .99) * 1000:.0f} ms")
        print(f"arrived: {len(arrivals)}; repeated on the wire: {repeats}; by attempt: {dict(sorted(attempts.items()))}; "
              f"the last one {drained:.0f} s after the last was sent")
        print(f"answered 2xx and missing: {len(missing)} {missing[:5]}")
        print(f"wrong: {len(platform.sources.wrong)} {platform.sources.wrong[:5]}")
        print(f"out of order, and not said so: {len(late)} {late[:5]}")
        faults = missing + platform.sources.wrong + late
    finally:
        platform.end()
        print(f"logs: {folder}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
