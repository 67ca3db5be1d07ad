#!/usr/bin/env python3
"""Delivers webhooks of one event source of which some fail always, with the real retry delays, and measures how long the others take.

Each tenth webhook is answered 500, always. Prints when the others had arrived, their order, and what the inbox says of the
poisoned ones; exits 1 if one of the others is missing after 60 s, or came out of order.

Needs: python3 and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import http.client
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from parts import ROOT, EventSource, Part, free_port

DOMAIN = "poison.test"
HOST = "acme-prod." + DOMAIN
LIMIT = 60  # seconds, from the first webhook on


class Poisoned:
    """Answers one of `each` webhooks 500, always, and notes when the others arrive."""

    def __init__(self, each):
        self.each = each
        self.passed = []
        self.attempts = 0
        self.port = EventSource(self.receive).port

    def receive(self, webhook):
        number = webhook["number"]
        self.attempts += 1
        if number % self.each == self.each - 1:
            return 500
        self.passed.append((time.monotonic(), number))
        return 200


def start(folder, source, parts):
    culvert = str(ROOT / "culvert")
    edge, tunnel, admin = free_port(), free_port(), free_port()
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
    (folder / "client.yaml").write_text(f"""\
server: wss://127.0.0.1:{tunnel}
serverCa: certs/ca.crt
enrolmentTokenFile: token
identityDir: identity
health: {{ listen: "127.0.0.1:0" }}
router:
  routes:
    - {{ path: "/webhooks/{{namespace}}/{{eventSource}}/", to: "http://{{eventSource}}.{{namespace}}.test:{source.port}", delivery: durable }}
  policy: {{ webhooks: {{ allow: ["ci/*"] }} }}
  resolve: {{ "push.ci.test": "127.0.0.1:{source.port}" }}
""")
    parts.append(Part("server", folder, "server", "--config", str(folder / "server.yaml")))
    parts[-1].wait('"event":"listening"')
    subprocess.run([culvert, "runtime", "create", "acme", "prod", "--token-file", str(folder / "token"), "--admin",
                    f"http://127.0.0.1:{admin}", "--admin-token-file", str(folder / "admin.token")], check=True,
                   stdout=subprocess.DEVNULL)
    parts.append(Part("client", folder, "client", "--config", str(folder / "client.yaml")))
    parts[-1].wait('"event":"connected"')
    return edge, admin


def post_all(edge, count):
    """One after another on one connection, so that they are stored in this order; each is answered at once or waits for 202."""
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", edge, context=tls, timeout=60)
    for number in range(count):
        connection.request("POST", "/webhooks/ci/push/", json.dumps({"number": number}), {"Host": HOST})
        response = connection.getresponse()
        response.read()
        if not 200 <= response.status < 300:
            sys.exit(f"webhook {number} was answered {response.status}")


def pending(folder, admin):
    items, cursor = [], ""
    token = (folder / "admin.token").read_text().strip()
    while cursor is not None:
        request = urllib.request.Request(
            f"http://127.0.0.1:{admin}/api/v1/webhooks?state=pending&limit=100{cursor}",
            headers={"Authorization": "Bearer " + token})
        page = json.load(urllib.request.urlopen(request, timeout=30))
        items += page["items"]
        cursor = f"&next={page['next']}" if page["next"] else None
    return items


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--webhooks", type=int, default=1000)
    arguments.add_argument("--each", type=int, default=10, help="one of so many fails always (default: 10)")
    options = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-poison-"))
    source = Poisoned(options.each)
    good = options.webhooks - options.webhooks // options.each
    parts = []
    try:
        edge, admin = start(folder, source, parts)
        began = time.monotonic()
        sender = threading.Thread(target=post_all, args=(edge, options.webhooks), daemon=True)
        sender.start()
        while len(source.passed) < good and time.monotonic() < began + LIMIT:
            time.sleep(0.05)
        took = time.monotonic() - began
        numbers = [number for _, number in source.passed]
        waiting = pending(folder, admin)
        print(f"{len(numbers)} of {good} that can be delivered arrived within {took:.1f} s, "
              f"{'in order' if numbers == sorted(numbers) else 'NOT in order'}; attempts in all: {source.attempts}")
        print(f"pending: {len(waiting)} (expected: {options.webhooks - good}); "
              f"outOfOrder of them: {sum(one['outOfOrder'] for one in waiting)}")
        fault = len(numbers) < good or numbers != sorted(numbers)
    finally:
        for part in reversed(parts):
            part.end()
        print(f"logs: {folder}")
    sys.exit(1 if fault else 0)


main()
