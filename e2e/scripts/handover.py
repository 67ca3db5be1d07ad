#!/usr/bin/env python3
"""Takes a running platform apart under load, and counts what callers notice.

64 callers ask for a small file, one request after another, through HAProxy (TCP), a tunnel server, a tunnel client and
nginx. Meanwhile the tunnel's connections are cut ten times, the client is restarted twice (the new one starts before the
old one is stopped), and a second server takes over from the first. Prints the counts; exits 1 if a request failed.

Needs: haproxy, nginx, python3, and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from parts import ROOT, Part, free_port, percentile

DOMAIN = "handover.test"
HOST = "acme-prod." + DOMAIN
OPENED = 30  # seconds; a client that lost its tunnel is back long before
REST = 2  # seconds between two events: a request is sent again once, so that one is not hit by both
CLOSED = 2  # seconds; both ends of a cut connection hear of it at once
HELD = 0.25  # seconds; a request that takes longer has met one of the events


class Load:
    def __init__(self, port, callers):
        self.port = port
        self.latencies = []
        self.failures = []
        self.lock = threading.Lock()
        self.running = True
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE  # TLS itself is not what this measures
        self.threads = [threading.Thread(target=self.call, daemon=True) for _ in range(callers)]
        for thread in self.threads:
            thread.start()

    def call(self):
        connection = None
        while self.running:
            began = time.monotonic()
            try:
                if connection is None:
                    connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=30)
                connection.request("GET", "/file", headers={"Host": HOST})
                response = connection.getresponse()
                body = response.read()
                failure = None if response.status == 200 and len(body) == 200 else \
                    f"{response.status} {body[:300]!r}"
                if response.will_close:
                    connection.close()
                    connection = None
            except (OSError, http.client.HTTPException) as e:
                failure = repr(e)
                connection.close()
                connection = None
            with self.lock:
                if failure is None:
                    self.latencies.append(time.monotonic() - began)
                else:
                    self.failures.append((time.monotonic(), failure))

    def end(self):
        self.running = False
        for thread in self.threads:
            thread.join()


def write_server(folder, name, ports):
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


def write_balancer(folder, edge, tunnel, a, b):
    def backend(name, index):
        return f"""
backend {name}
  option httpchk GET /readyz
  timeout connect 1s
  default-server check inter 200ms fall 1 rise 1
  server a 127.0.0.1:{a[index]} port {a[2]}
  server b 127.0.0.1:{b[index]} port {b[2]}
"""
    (folder / "haproxy.cfg").write_text(f"""\
global
  stats socket {folder}/haproxy.sock mode 600 level admin
defaults
  mode tcp
  timeout client 1h
  timeout server 1h
  timeout queue 10s
  timeout check 1s
frontend edge_in
  bind 127.0.0.1:{edge}
  default_backend edge
frontend tunnel_in
  bind 127.0.0.1:{tunnel}
  default_backend tunnel
{backend("edge", 0)}{backend("tunnel", 1)}""")


def haproxy(folder, command):
    """Tells HAProxy to do something; what it has to say to that is an error."""
    answer = b""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.connect(str(folder / "haproxy.sock"))
        s.sendall(command.encode() + b"\n")
        while piece := s.recv(4096):
            answer += piece
    if answer.strip():
        sys.exit(f"haproxy: {command}: {answer.decode(errors='replace').strip()}")


def cut_tunnel(folder, name, server, since):
    """Cuts the connections to one server, once it has a session since that moment; the end if that closes none."""
    if server.find("session opened", since, OPENED) is None:
        sys.exit(f"nothing to cut within {OPENED} s; see {server.log.name}")
    at = time.monotonic()
    haproxy(folder, f"shutdown sessions server tunnel/{name}")
    if server.find("session closed", at, CLOSED) is None:
        sys.exit(f"a cut closed no session within {CLOSED} s; see {server.log.name}")
    return at


def write_nginx(folder, port):
    (folder / "www").mkdir()
    (folder / "www" / "file").write_text("x" * 200)
    (folder / "nginx.conf").write_text(f"""\
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 1000000;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; root {folder}/www; }} }}
""")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--callers", type=int, default=64)
    options = arguments.parse_args()
    for tool in ("haproxy", "nginx"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is not installed")
    os.umask(0o077)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-handover-"))
    os.chmod(folder, 0o711)  # nginx's workers may not be ours
    parts = []
    try:
        run(options, folder, parts)
    finally:
        for part in reversed(parts):
            part.end()


class Tool(Part):
    """A process of another program."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command)


def run(options, folder, parts):
    culvert = str(ROOT / "culvert")
    subprocess.run([culvert, "certs", "init", "--dir", str(folder / "certs"), "--domain", DOMAIN], check=True,
                   stdout=subprocess.DEVNULL)
    a, b = [free_port() for _ in range(3)], [free_port() for _ in range(3)]
    edge, tunnel, upstream = free_port(), free_port(), free_port()
    write_server(folder, "a", a)
    write_server(folder, "b", b)
    write_balancer(folder, edge, tunnel, a, b)
    write_nginx(folder, upstream)
    os.chmod(folder / "www", 0o755)
    os.chmod(folder / "www" / "file", 0o644)
    parts.append(Tool("nginx", "-c", str(folder / "nginx.conf")))
    first = Part("a", folder, "server", "--config", str(folder / "a.yaml"))
    parts.append(first)
    first.wait('"event":"listening"')
    parts.append(Tool("haproxy", "-f", str(folder / "haproxy.cfg")))
    subprocess.run([culvert, "runtime", "create", "acme", "prod", "--token-file", str(folder / "token"), "--admin",
                    f"http://127.0.0.1:{a[2]}", "--admin-token-file", str(folder / "admin.token")], check=True,
                   stdout=subprocess.DEVNULL)

    def client(number):
        part = Part(f"client-{number}", folder, "client", "--server", f"wss://127.0.0.1:{tunnel}", "--server-ca",
                    str(folder / "certs" / "ca.crt"), "--enrolment-token-file", str(folder / "token"), "--identity-dir",
                    str(folder / "identity"), "--to", f"http://127.0.0.1:{upstream}", "--health-listen", "127.0.0.1:0")
        parts.append(part)
        return part

    clients = [client(0)]
    clients[0].wait('"event":"connected"')
    second = Part("b", folder, "server", "--config", str(folder / "b.yaml"))  # waits for the lease
    parts.append(second)

    load = Load(edge, options.callers)
    began = time.monotonic()
    share = options.seconds / 14

    def until(step):
        time.sleep(max(REST, began + step * share - time.monotonic()))

    name, server = "a", first
    done = []
    step = 0
    for number in range(1, 14):
        step += 1
        until(step)
        at = time.monotonic()
        if number in (3, 10):
            clients.append(client(len(clients)))
            clients[-1].wait('"event":"connected"')
            clients[-2].stop()
            done.append((at, "client replaced"))
        elif number == 7:
            first.stop()
            second.wait('"event":"listening"')
            name, server = "b", second
            done.append((at, "server replaced"))
        else:
            at = cut_tunnel(folder, name, server, done[-1][0] if done else 0.0)
            done.append((at, "tunnel cut"))
    until(14)
    load.end()

    held = [latency for latency in load.latencies if latency > HELD]
    for kind in ("tunnel cut", "client replaced", "server replaced"):
        print(f"{kind}: {sum(1 for _, what in done if what == kind)} times")
    print(f"requests: {len(load.latencies)} answered, {len(load.failures)} failed")
    print(f"latency: p50 {percentile(load.latencies, .5) * 1000:.1f} ms, p99 {percentile(load.latencies, .99) * 1000:.1f} ms")
    print(f"held (over {HELD * 1000:.0f} ms): {len(held)}, p99 {percentile(held, .99) * 1000:.0f} ms, "
          f"longest {max(held, default=0.0) * 1000:.0f} ms")
    for at, failure in load.failures[:10]:
        before = [f"{at - when:.3f} s after: {what}" for when, what in done if when <= at][-1:]
        print("failed", *before, failure)
    print(f"logs: {folder}")
    if load.failures or percentile(held, .99) > 3:
        sys.exit(1)
    if clients[-1].find('"event":"connected"', seconds=0) is None:
        sys.exit("the last client never connected")


if __name__ == "__main__":
    main()
