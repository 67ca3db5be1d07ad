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
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOMAIN = "handover.test"
HOST = "acme-prod." + DOMAIN
HELD = 0.25  # seconds; a request that takes longer has met one of the events


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Part:
    """A process whose JSON lines are read; the rest of what it prints goes to a file."""

    def __init__(self, name, folder, *arguments):
        self.events = {}
        self.seen = threading.Condition()
        self.log = open(folder / (name + ".log"), "w")
        self.process = subprocess.Popen([str(ROOT / "culvert"), *arguments], stdout=subprocess.PIPE, stderr=self.log,
                                        text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.log.write(line)
            self.log.flush()
            if line.startswith("{"):
                with self.seen:
                    self.events[json.loads(line).get("event")] = time.monotonic()
                    self.seen.notify_all()

    def wait(self, event, seconds=90):
        with self.seen:
            if not self.seen.wait_for(lambda: event in self.events, seconds):
                sys.exit(f"no {event} within {seconds} s; see {self.log.name}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)


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
        self.threads = [threading.Thread(target=self.call) for _ in range(callers)]
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


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else 0.0


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
  option redispatch 1
  retries 100
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
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.connect(str(folder / "haproxy.sock"))
        s.sendall(command.encode() + b"\n")
        while s.recv(4096):
            pass


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
        for part in parts:
            process = part.process if isinstance(part, Part) else part
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


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
    parts.append(subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf")]))
    first = Part("a", folder, "server", "--config", str(folder / "a.yaml"))
    parts.append(first)
    first.wait("listening")
    parts.append(subprocess.Popen(["haproxy", "-f", str(folder / "haproxy.cfg")]))
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
    clients[0].wait("connected")
    second = Part("b", folder, "server", "--config", str(folder / "b.yaml"))  # waits for the lease
    parts.append(second)

    load = Load(edge, options.callers)
    began = time.monotonic()
    share = options.seconds / 14

    def until(step):
        time.sleep(max(0.0, began + step * share - time.monotonic()))

    server = "a"
    done = []
    step = 0
    for number in range(1, 14):
        step += 1
        until(step)
        at = time.monotonic()
        if number in (3, 10):
            clients.append(client(len(clients)))
            clients[-1].wait("connected")
            clients[-2].stop()
            done.append((at, "client replaced"))
        elif number == 7:
            first.stop()
            second.wait("listening")
            server = "b"
            done.append((at, "server replaced"))
        else:
            haproxy(folder, f"shutdown sessions server tunnel/{server}")
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
    if "connected" not in clients[-1].events:
        sys.exit("the last client never connected")


main()
