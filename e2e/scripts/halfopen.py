#!/usr/bin/env python3
"""Cuts the network between a client and a server without a word, and measures when each end notices.

Server and client are in network namespaces of their own, with a third one between them that forwards. When that stops to
forward, packets vanish: no FIN, no RST, no unreachable. Both ends must notice within 15 s, and the tunnel must
come back once packets pass again. Several rounds; prints the figures, exits 1 if missed, 0 with a reason where namespaces
are not allowed.

Needs: root, ip (iproute2), python3 and ./culvert of this repository. Nothing leaves the namespaces, which are removed in any case.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from parts import ROOT, Part

NAME = f"culvert-{os.getpid()}"
SERVER, ROUTER, CLIENT = (f"{NAME}-{end}" for end in ("server", "router", "client"))
SERVER_ADDRESS, CLIENT_ADDRESS = "10.77.1.2", "10.77.2.2"
DOMAIN = "halfopen.test"
LIMIT = 15
SESSIONS = 2  # the client's connections


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def inside(namespace, *words):
    subprocess.run(["ip", "netns", "exec", namespace, *words], check=True, capture_output=True, text=True)


def build_network():
    for namespace in (SERVER, ROUTER, CLIENT):
        ip("netns", "add", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
    for namespace, address in ((SERVER, SERVER_ADDRESS), (CLIENT, CLIENT_ADDRESS)):
        gateway = address[:-1] + "1"
        end = namespace.rsplit("-", 1)[1]
        ip("-n", ROUTER, "link", "add", end, "type", "veth", "peer", "name", "wire", "netns", namespace)
        ip("-n", ROUTER, "addr", "add", gateway + "/30", "dev", end)
        ip("-n", ROUTER, "link", "set", end, "up")
        ip("-n", namespace, "addr", "add", address + "/30", "dev", "wire")
        ip("-n", namespace, "link", "set", "wire", "up")
        ip("-n", namespace, "route", "add", "default", "via", gateway)
    forward(True)


def forward(on):
    inside(ROUTER, "sysctl", "-q", "-w", f"net.ipv4.ip_forward={int(on)}")


def remove_network():
    for namespace in (SERVER, ROUTER, CLIENT):
        subprocess.run(["ip", "netns", "delete", namespace], capture_output=True)
        shutil.rmtree(f"/etc/netns/{namespace}", ignore_errors=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    if os.geteuid() != 0 or not shutil.which("ip"):
        print("skipped: needs root and ip (iproute2)")
        return 0
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    os.umask(0o077)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-halfopen-"))
    parts = []
    try:
        try:
            build_network()
        except subprocess.CalledProcessError as e:
            print(f"skipped: network namespaces are not allowed here: {e.stderr.strip()}")
            return 0
        return run(options, folder, parts)
    finally:
        for part in reversed(parts):
            part.end()
        remove_network()


def run(options, folder, parts):
    culvert = str(ROOT / "culvert")
    subprocess.run([culvert, "certs", "init", "--dir", str(folder / "certs"), "--domain", DOMAIN], check=True,
                   stdout=subprocess.DEVNULL)
    (folder / "server.yaml").write_text(f"""\
edge: {{ listen: 127.0.0.1:8443, domain: {DOMAIN}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }} }}
tunnel:
  listen: {SERVER_ADDRESS}:7443
  tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }}
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}
admin: {{ listen: 127.0.0.1:9090, tokenFile: admin.token }}
dataDir: data
""")
    names = pathlib.Path(f"/etc/netns/{CLIENT}")  # ip shows it to what it starts there as /etc
    names.mkdir(parents=True, mode=0o755)
    (names / "hosts").write_text(f"127.0.0.1 localhost\n{SERVER_ADDRESS} {DOMAIN}\n")
    server = Part("server", folder, "server", "--config", str(folder / "server.yaml"), namespace=SERVER)
    parts.append(server)
    server.wait('"event":"listening"')
    inside(SERVER, culvert, "runtime", "create", "acme", "prod", "--token-file", str(folder / "token"), "--admin",
           "http://127.0.0.1:9090", "--admin-token-file", str(folder / "admin.token"))
    client = Part("client", folder, "client", "--server", f"wss://{DOMAIN}:7443", "--server-ca",
                  str(folder / "certs" / "ca.crt"), "--enrolment-token-file", str(folder / "token"), "--identity-dir",
                  str(folder / "identity"), "--to", "http://127.0.0.1:9", "--health-listen", "127.0.0.1:0", namespace=CLIENT)
    parts.append(client)
    client.wait('"event":"connected"')
    failed = False
    for number in range(1, options.rounds + 1):
        time.sleep(3 + number)  # not always at the same distance from a heartbeat
        cut = time.monotonic()
        forward(False)
        at_client = client.find("tunnel lost", cut, LIMIT + 5)
        at_server = server.find("session closed", cut, LIMIT + 5, count=SESSIONS)
        lost = [at and at - cut for at in (at_client, at_server)]
        forward(True)
        passed = time.monotonic()
        again = client.find('"event":"connected"', passed, 60)
        server.find("session opened", passed, 60, count=SESSIONS)
        print(f"round {number}: " + ", ".join(
            f"{end} noticed after {at:.1f} s" if at else f"{end} did not notice"
            for end, at in zip(("client", "server"), lost))
            + (f"; connected again {again - passed:.1f} s after packets passed" if again else "; not connected again"), flush=True)
        failed |= not again or any(at is None or at > LIMIT for at in lost)
    print(f"logs: {folder}")
    return 1 if failed else 0


sys.exit(main())
