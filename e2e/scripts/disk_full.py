#!/usr/bin/env python3
"""Fills the disk of a server's inbox, and frees it again.

The server's dataDir is a file system of 64 MiB. Webhooks are stored while their event sources are down, then the disk is
filled: further ones must be refused with 503 `overloaded` and Retry-After while direct requests go on. With room again,
webhooks must be taken without a restart, and every one that was ever answered 2xx must arrive, byte for byte. Exits 1 if not.

Needs: root (it mounts a tmpfs), python3 and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import collections
import hashlib
import hmac
import http.client
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time

from webhooks import HOST, SECRET, Platform


class Caller:
    def __init__(self, port):
        self.port = port
        self.answered = []
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE

    def ask(self, method, path, body=None, **fields):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=30)
        connection.request(method, path, body, {"Host": HOST, **fields})
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, response.headers, text

    def send(self, size):
        delivery = f"delivery-{len(self.answered)}-{time.monotonic_ns()}"
        body = json.dumps({"delivery": delivery, "pad": "x" * size}).encode()
        status, headers, text = self.ask("POST", "/webhooks/ci/github-0/push", body, **{
            "X-GitHub-Delivery": delivery,
            "X-Hub-Signature-256": "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()})
        if 200 <= status < 300:
            self.answered.append(delivery)
        return status, headers, text


def check(what, held, faults):
    print(f"{'ok     ' if held else 'FAILED '} {what}")
    if not held:
        faults.append(what)


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-full-"))
    data = folder / "data"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", str(data)], check=True)
    faults = []
    platform = None
    try:
        platform = Platform(folder)
        caller = Caller(platform.edge)
        status, _, _ = caller.send(100)
        check("a webhook is taken", status == 200, faults)
        platform.sources.down()
        statuses = collections.Counter(caller.send(size)[0] for size in [100, 200_000] * 20)
        check(f"40 are stored while their event source is down: {dict(statuses)}", statuses[202] == 40, faults)
        filler = data / "filler"
        with open(filler, "wb", buffering=0) as out:
            try:
                while True:
                    out.write(bytes(1 << 16))
            except OSError:
                pass
        refused = [caller.send(size) for size in (100, 200_000) * 20]
        full = [answer for answer in refused if answer[0] == 503]
        check(f"with a full disk webhooks are refused: {dict(collections.Counter(answer[0] for answer in refused))}",
              len(full) >= 20 and set(answer[0] for answer in refused) <= {202, 503}, faults)
        check("with 503 overloaded and Retry-After",
              all(b"overloaded" in text and headers["Retry-After"] for _, headers, text in full), faults)
        status, _, text = caller.ask("GET", "/webhooks/ci/github-0/push")
        check(f"a direct request reaches the router: {status} {json.loads(text)['type']}",
              status == 502 and b"upstream-refused" in text, faults)
        platform.sources.up()
        status, _, _ = caller.ask("GET", "/webhooks/ci/github-0/push")
        check(f"and its event source, once that is back: {status}", status == 501, faults)  # it knows POST alone
        filler.unlink()
        deadline = time.monotonic() + 30
        while (answer := caller.send(200_000))[0] not in (200, 202) and time.monotonic() < deadline:
            time.sleep(0.2)
        check(f"with room again webhooks are taken, without a restart: {answer[0]}", answer[0] in (200, 202), faults)
        deadline = time.monotonic() + 120
        while platform.api("/webhooks?state=pending&limit=1")["items"] and time.monotonic() < deadline:
            time.sleep(0.5)
        missing = [delivery for delivery in caller.answered if delivery not in platform.sources.arrivals]
        check(f"all {len(caller.answered)} that were answered 2xx arrived", not missing, faults)
        check("byte for byte", not platform.sources.wrong, faults)
    finally:
        if platform:
            platform.end()
        subprocess.run(["umount", str(data)], check=False)
        print(f"logs: {folder}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
