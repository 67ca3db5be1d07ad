#!/usr/bin/env python3
"""Delivers webhooks of one event source, some of which fail always, with the real retry delays, and times the others.

Each tenth webhook is answered 500, always. Prints when the others had arrived, their order, and the state of the poisoned
ones in the inbox; exits 1 if one of the others is missing after 60 s, or arrived out of order.

Needs: python3 and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import http.client
import json
import pathlib
import ssl
import sys
import tempfile
import threading
import time
import urllib.request

from parts import EventSource, Gateway

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


def routes(source):
    return f"""\
  routes:
    - {{ path: "/webhooks/{{namespace}}/{{eventSource}}/", to: "http://{{eventSource}}.{{namespace}}.test:{source.port}", delivery: durable }}
  policy: {{ webhooks: {{ allow: ["ci/*"] }} }}
  resolve: {{ "push.ci.test": "127.0.0.1:{source.port}" }}
"""


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
    arguments.add_argument("--each", type=int, default=10, help="each webhook of this number fails always (default: 10)")
    options = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-poison-"))
    source = Poisoned(options.each)
    good = options.webhooks - options.webhooks // options.each
    gateway = Gateway(folder, DOMAIN)
    try:
        gateway.connect(routes(source))
        began = time.monotonic()
        sender = threading.Thread(target=post_all, args=(gateway.edge, options.webhooks), daemon=True)
        sender.start()
        while len(source.passed) < good and time.monotonic() < began + LIMIT:
            time.sleep(0.05)
        took = time.monotonic() - began
        numbers = [number for _, number in source.passed]
        waiting = pending(folder, gateway.admin)
        print(f"{len(numbers)} of {good} that can be delivered arrived within {took:.1f} s, "
              f"{'in order' if numbers == sorted(numbers) else 'NOT in order'}; attempts in all: {source.attempts}")
        print(f"pending: {len(waiting)} (expected: {options.webhooks - good}); "
              f"outOfOrder of them: {sum(one['outOfOrder'] for one in waiting)}")
        fault = len(numbers) < good or numbers != sorted(numbers)
    finally:
        gateway.end()
        print(f"logs: {folder}")
    sys.exit(1 if fault else 0)


main()
