#!/usr/bin/env python3
"""Upgrades a server twelve times under webhooks, and measures when its successor delivers.

Two servers share a folder; the client knows the addresses of both. In each upgrade the next server starts, waits for the
database, and the old one is stopped. Webhooks are posted all the while, to the server that is listening. Prints for each
upgrade how long after the next server listened the first webhook that it acknowledged arrived, how long after the client's
connection to it and its lease of the inbox it delivered itself, and how long webhooks took from their acknowledgement to
their arrival. Exits 1 if a first one took over 2 s from the moment that its server listened, or one is missing.

Needs: python3 and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from parts import ROOT, EventSource, Part, free_port, percentile

DOMAIN = "upgrades.test"
HOST = "acme-prod." + DOMAIN
WITHIN = 2.0  # seconds, from the moment that the next server listens


class Arrivals:
    """Notes when each webhook arrives first."""

    def __init__(self):
        self.arrivals = {}
        self.port = EventSource(self.receive).port

    def receive(self, webhook):
        self.arrivals.setdefault(webhook["delivery"], time.monotonic())
        return 200


class Sender:
    """Posts a webhook each 50 ms, one connection each, to the port that is current."""

    def __init__(self, port):
        self.port = port
        self.acknowledged = {}
        self.at = {}
        self.refused = 0
        self.running = True
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        number = 0
        while self.running:
            threading.Thread(target=self.post, args=(number, self.port), daemon=True).start()
            number += 1
            time.sleep(0.05)

    def post(self, number, port):
        try:
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=self.tls, timeout=20)
            connection.request("POST", f"/webhooks/ci/push-{number % 4}/", json.dumps({"delivery": number}),
                               {"Host": HOST, "Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            if 200 <= response.status < 300:
                self.acknowledged[number] = time.monotonic()
                self.at[number] = port
            else:
                self.refused += 1
            connection.close()
        except (OSError, http.client.HTTPException):
            self.refused += 1


def write(folder, name, ports):
    edge, tunnel, admin = ports
    (folder / (name + ".yaml")).write_text(f"""\
edge: {{ listen: 127.0.0.1:{edge}, domain: {DOMAIN}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }} }}
tunnel:
  listen: 127.0.0.1:{tunnel}
  tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }}
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}
admin: {{ listen: 127.0.0.1:{admin}, tokenFile: admin.token }}
dataDir: data
store: {{ waitForLease: 5m }}
""")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--upgrades", type=int, default=12)
    options = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-upgrades-"))
    parts = []
    try:
        faults = run(options, folder, parts)
    finally:
        for part in reversed(parts):
            part.end()
        print(f"logs: {folder}")
    sys.exit(1 if faults else 0)


def run(options, folder, parts):
    culvert = str(ROOT / "culvert")
    subprocess.run([culvert, "certs", "init", "--dir", str(folder / "certs"), "--domain", DOMAIN], check=True,
                   stdout=subprocess.DEVNULL)
    source = Arrivals()
    ports = {name: [free_port() for _ in range(3)] for name in "ab"}
    for name in "ab":
        write(folder, name, ports[name])
    (folder / "client.yaml").write_text(f"""\
server: ["wss://127.0.0.1:{ports['a'][1]}", "wss://127.0.0.1:{ports['b'][1]}"]
serverCa: certs/ca.crt
enrolmentTokenFile: token
identityDir: identity
health: {{ listen: "127.0.0.1:0" }}
router:
  routes:
    - {{ path: "/webhooks/{{namespace}}/{{eventSource}}/", to: "http://{{eventSource}}.{{namespace}}.test:{source.port}", delivery: durable }}
  policy: {{ webhooks: {{ allow: ["ci/*"] }} }}
  resolve: {{ {", ".join(f'"push-{i}.ci.test": "127.0.0.1:{source.port}"' for i in range(4))} }}
""")

    def server(name):
        part = Part(name, folder, "server", "--config", str(folder / (name + ".yaml")))
        parts.append(part)
        return part

    old = server("a")
    old.wait('"event":"listening"')
    subprocess.run([culvert, "runtime", "create", "acme", "prod", "--token-file", str(folder / "token"), "--admin",
                    f"http://127.0.0.1:{ports['a'][2]}", "--admin-token-file", str(folder / "admin.token")], check=True,
                   stdout=subprocess.DEVNULL)
    client = Part("client", folder, "client", "--config", str(folder / "client.yaml"))
    parts.append(client)
    client.wait('"event":"connected"')
    sender = Sender(ports["a"][0])
    current = "a"
    faults = 0
    within = 0
    for number in range(1, options.upgrades + 1):
        current = "b" if current == "a" else "a"
        next_server = server(current)
        if next_server.find("waiting for the database", seconds=120) is None:
            sys.exit("the next server does not wait for the database")
        stopped = time.monotonic()
        old.stop()
        listening = next_server.wait('"event":"listening"')
        sender.port = ports[current][0]
        connected = next_server.find("session opened", seconds=60)
        delivering = next_server.find("delivering webhooks", seconds=60)
        if connected is None or delivering is None:
            print(f"upgrade {number}: connected {connected}, delivering {delivering} (expected: both within 60 s)")
            faults += 1
        else:
            began = max(connected, delivering)
            own = wait_for_arrival(source, lambda number, at: at > began)
            port = ports[current][0]
            took = wait_for_arrival(source, lambda number, at: at > listening and sender.at.get(number) == port) - listening
            within += took <= WITHIN
            faults += took > WITHIN
            print(f"upgrade {number}: stop to listening {listening - stopped:.2f} s, to connected {connected - stopped:.2f} s; "
                  f"connected to lease {delivering - connected:+.2f} s, delivering to first delivery {own - began:.2f} s; "
                  f"listening to first arrival {took:.2f} s; load {os.getloadavg()[0]:.1f}", flush=True)
        old.process.wait(60)
        old = next_server
    time.sleep(1)
    sender.running = False
    sender.thread.join()
    deadline = time.monotonic() + 30
    while set(sender.acknowledged) - set(source.arrivals) and time.monotonic() < deadline:
        time.sleep(0.1)
    missing = set(sender.acknowledged) - set(source.arrivals)
    waits = sorted(max(0.0, source.arrivals[one] - at) for one, at in sender.acknowledged.items() if one in source.arrivals)
    print(f"{within} of {options.upgrades} upgrades: first arrival within {WITHIN:.0f} s of the successor's listening")
    print(f"webhooks: {len(sender.acknowledged)} acknowledged, {sender.refused} refused, {len(missing)} missing; "
          f"from acknowledgement to arrival p50 {percentile(waits, .5):.2f} s, p95 {percentile(waits, .95):.2f} s, "
          f"p99 {percentile(waits, .99):.2f} s, longest {waits[-1]:.2f} s, over 2 s: {sum(wait > 2 for wait in waits)}")
    return faults + len(missing)


def wait_for_arrival(source, is_wanted):
    """When the first webhook that is wanted, by its number and arrival, arrived."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        arrived = [at for number, at in list(source.arrivals.items()) if is_wanted(number, at)]
        if arrived:
            return min(arrived)
        time.sleep(0.01)
    return deadline


main()
