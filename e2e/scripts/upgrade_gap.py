#!/usr/bin/env python3
"""Upgrades a server three times under load, and counts what callers, tunnels and webhooks notice.

haproxy, nginx: two servers share a folder, behind deploy/balancer/haproxy.cfg or nginx.conf, of which only the ports and
the places of files are changed. In each upgrade the other server is started, waits for the database, and the old one is stopped. in-place: one
server, behind nothing; in each upgrade it is stopped, and when it has ended another one is started on its ports.

All the while 20 new connections a second make one HTTPS request each, 4 kept connections make 4 requests a second each, and
5 webhooks a second are posted. A provider of webhooks posts again what was not acknowledged; so does this script in-place.
Prints the counts. Exits 1 if behind a balancer a connection was cut or refused or an answer was not 200, or if a webhook
was lost or delivered twice, or if the tunnel has not all its sessions in the end.

Needs: python3, haproxy or nginx with its stream module, and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import collections
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from parts import ROOT, EventSource, Part, culvert, free_port, percentile

DOMAIN = "gap.test"
HOST = "acme-prod." + DOMAIN
UPGRADES = 3
CONNECTIONS = 2  # of a client's tunnel
KEPT = 4
BALANCERS = ROOT / "deploy" / "balancer"


class Tool:
    """A process of another program."""

    def __init__(self, folder, name, *command):
        self.process = subprocess.Popen(command, stdout=open(folder / (name + ".log"), "a"), stderr=subprocess.STDOUT)

    def end(self):
        self.process.terminate()
        self.process.wait(15)


class Load:
    """Callers of the port. Every outcome is kept with the time of its connection: OK, a status, or what broke."""

    def __init__(self, port, rate, repeats):
        self.port = port
        self.repeats = repeats
        self.outcomes = []
        self.waits = []
        self.acknowledged = {}
        self.unacknowledged = 0
        self.posted = 0
        self.lock = threading.Lock()
        self.running = True
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE  # TLS itself is not what this measures
        self.threads = [threading.Thread(target=self.every, args=(1 / rate, self.once), daemon=True),
                        threading.Thread(target=self.every, args=(0.2, self.post), daemon=True),
                        *(threading.Thread(target=self.keep, daemon=True) for _ in range(KEPT))]
        for thread in self.threads:
            thread.start()

    def every(self, seconds, work):
        at = time.monotonic()
        started = []
        while self.running:
            started.append(threading.Thread(target=work, daemon=True))
            started[-1].start()
            started = [one for one in started if one.is_alive()]
            at += seconds
            time.sleep(max(0.0, at - time.monotonic()))
        for one in started:
            one.join()

    def open(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=30)

    def note(self, kind, began, outcome):
        with self.lock:
            self.outcomes.append((kind, began, outcome))
            self.waits.append(time.monotonic() - began)

    def get(self, connection, kind):
        """Whether the connection may be used again."""
        began = time.monotonic()
        try:
            connection.request("GET", "/file", headers={"Host": HOST})
            response = connection.getresponse()
            body = response.read()
            ok = response.status == 200 and len(body) == 200
            self.note(kind, began, "OK" if ok else f"{response.status} {body[:200]!r}")
            if not response.will_close:
                return True
        except (OSError, http.client.HTTPException) as e:
            self.note(kind, began, broken(e))
        connection.close()
        return False

    def once(self):
        connection = self.open()
        self.get(connection, "new")
        connection.close()

    def keep(self):
        connection = self.open()
        while self.running:
            if not self.get(connection, "kept"):
                connection = self.open()
            time.sleep(0.25)
        connection.close()

    def post(self):
        with self.lock:
            number = self.posted
            self.posted += 1
        while not self.post_once(number) and self.repeats and self.running:
            time.sleep(0.5)

    def post_once(self, number):
        began = time.monotonic()
        try:
            connection = self.open()
            connection.request("POST", f"/webhooks/ci/push-{number % 4}/", json.dumps({"delivery": number}),
                               {"Host": HOST, "Content-Type": "application/json", "Idempotency-Key": str(number)})
            response = connection.getresponse()
            body = response.read()
            connection.close()
            taken = 200 <= response.status < 300
            self.note("webhook", began, "OK" if taken else f"{response.status} {body[:200]!r}")
        except (OSError, http.client.HTTPException) as e:
            taken = False
            self.note("webhook", began, broken(e))
        with self.lock:
            if taken:
                self.acknowledged[number] = time.monotonic()
            else:
                self.unacknowledged += 1
        return taken

    def end(self):
        self.running = False
        for thread in self.threads:
            thread.join()


def broken(error):
    return ("refused: " if isinstance(error, ConnectionRefusedError) else "cut: ") + repr(error)


class Arrivals:
    def __init__(self):
        self.times = collections.defaultdict(list)
        self.port = EventSource(self.receive).port

    def receive(self, webhook):
        self.times[webhook["delivery"]].append(time.monotonic())
        return 200


def upstream():
    """The port of a server with one file of 200 bytes."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "200")
            self.end_headers()
            self.wfile.write(b"x" * 200)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 1024  # requests that were held come at once

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server.server_address[1]


def write_server(folder, name, ports, proxied):
    edge, tunnel, admin = ports
    proxy = ", proxyProtocol: true, trustedProxies: [127.0.0.1]" if proxied else ""
    (folder / (name + ".yaml")).write_text(f"""\
edge: {{ listen: 127.0.0.1:{edge}, domain: {DOMAIN}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }}{proxy} }}
tunnel: {{ listen: 127.0.0.1:{tunnel}, tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }},
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}{proxy} }}
admin: {{ listen: 127.0.0.1:{admin}, tokenFile: admin.token }}
dataDir: data
store: {{ waitForLease: {"10m" if proxied else "10s"} }}
""")


def write_client(folder, tunnel, source, service):
    (folder / "client.yaml").write_text(f"""\
server: wss://127.0.0.1:{tunnel}
serverCa: certs/ca.crt
enrolmentTokenFile: token
identityDir: identity
connections: {CONNECTIONS}
health: {{ listen: "127.0.0.1:0" }}
router:
  routes:
    - {{ path: /, to: "http://127.0.0.1:{service}" }}
    - {{ path: "/webhooks/{{namespace}}/{{eventSource}}/", to: "http://{{eventSource}}.{{namespace}}.test:{source}", delivery: durable }}
  policy: {{ webhooks: {{ allow: ["ci/*"] }} }}
  resolve: {{ {", ".join(f'"push-{i}.ci.test": "127.0.0.1:{source}"' for i in range(4))} }}
""")


def start_balancer(kind, folder, ports, edge, tunnel):
    """Starts a balancer with its file of deploy/balancer. Only ports and the places of files are changed."""
    name = {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}[kind]
    text = (BALANCERS / name).read_text()
    changed = {"18443": ports["a"][0], "17443": ports["a"][1], "19090": ports["a"][2], "28443": ports["b"][0],
               "27443": ports["b"][1], "29090": ports["b"][2], ":8443": f"127.0.0.1:{edge}", ":7443": f"127.0.0.1:{tunnel}",
               "listen 8443": f"listen 127.0.0.1:{edge}", "listen 7443": f"listen 127.0.0.1:{tunnel}"}
    for before in changed:
        if kind == "haproxy" and before.startswith("listen") or kind == "nginx" and (before[0] == ":" or before[1:] == "9090"):
            continue
        if not re.search(re.escape(before) + r"\b", text):
            sys.exit(f"{name} has no {before}")
    text = re.sub("|".join(re.escape(before) + r"\b" for before in changed), lambda found: str(changed[found[0]]), text)
    if kind == "nginx":
        text = (f"daemon off; pid {folder}/nginx.pid;\n"
                f"error_log {folder}/nginx-error.log;\n" + text)
    (folder / name).write_text(text)
    return Tool(folder, kind, kind, *(["-db", "-f"] if kind == "haproxy" else ["-c"]), str(folder / name))


def wait_for_port(port, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"nobody listens on 127.0.0.1:{port}")


def sessions(folder, port):
    """The sessions of the tunnel that this server has and that are open."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/tunnels",
                                     headers={"Authorization": "Bearer " + (folder / "admin.token").read_text().strip()})
    with urllib.request.urlopen(request, timeout=10) as response:
        return sum(one["state"] == "open" for one in json.load(response)["items"])


def wait_for_sessions(folder, port, wanted, seconds=60):
    """The seconds until the server has them; None if it has not."""
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        try:
            if sessions(folder, port) >= wanted:
                return time.monotonic() - began
        except OSError:
            pass
        time.sleep(0.05)
    return None


def watch_port(port, gaps, over):
    """Adds the seconds for which nobody listened, each time."""
    since = None
    while not over.is_set():
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            if since is not None:
                gaps.append(time.monotonic() - since)
                since = None
        except OSError:
            since = since or time.monotonic()
        time.sleep(0.02)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("kinds", nargs="*", default=["haproxy", "nginx", "in-place"],
                           help="haproxy, nginx, in-place (default: all)")
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--rate", type=int, default=20, help="new connections a second")
    arguments.add_argument("--single", action="store_true", help="the client's tunnel has one connection")
    options = arguments.parse_args()
    global CONNECTIONS
    CONNECTIONS = 1 if options.single else CONNECTIONS
    faults = 0
    for kind in options.kinds:
        if kind != "in-place" and not shutil.which(kind):
            sys.exit(f"{kind} is not installed")
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"culvert-gap-{kind}-"))
        os.chmod(folder, 0o711)  # nginx's workers may not be ours
        parts = []
        print(f"--- {kind}", flush=True)
        try:
            faults += run(kind, options, folder, parts)
        finally:
            for part in reversed(parts):
                part.end()
            print(f"logs: {folder}", flush=True)
    sys.exit(1 if faults else 0)


def run(kind, options, folder, parts):
    proxied = kind != "in-place"
    culvert("certs", "init", "--dir", folder / "certs", "--domain", DOMAIN)
    ports = {name: [free_port() for _ in range(3)] for name in ("ab" if proxied else "a")}
    edge, tunnel = (free_port(), free_port()) if proxied else ports["a"][:2]
    for name in ports:
        write_server(folder, name, ports[name], proxied)
    arrivals = Arrivals()
    write_client(folder, tunnel, arrivals.port, upstream())

    def server(name):
        part = Part(name, folder, "server", "--config", str(folder / (name + ".yaml")))
        parts.append(part)
        return part

    name, current = "a", server("a")
    current.wait('"event":"listening"')
    if proxied:
        parts.append(start_balancer(kind, folder, ports, edge, tunnel))
        wait_for_port(edge)
    culvert("runtime", "create", "acme", "prod", "--token-file", folder / "token", "--admin",
            f"http://127.0.0.1:{ports['a'][2]}", "--admin-token-file", folder / "admin.token")
    client = Part("client", folder, "client", "--config", str(folder / "client.yaml"))
    parts.append(client)
    client.wait('"event":"connected"')
    if wait_for_sessions(folder, ports["a"][2], CONNECTIONS) is None:
        sys.exit("the client has not all its connections")
    time.sleep(2)  # the balancer has found out by now that b is not there

    gaps, over = [], threading.Event()
    if not proxied:
        threading.Thread(target=watch_port, args=(edge, gaps, over), daemon=True).start()
    load = Load(edge, options.rate, repeats=not proxied)
    began = time.monotonic()
    faults = 0
    for number in range(UPGRADES):
        time.sleep(max(0.0, began + 3 + number * options.seconds / UPGRADES - time.monotonic()))
        old = current
        if proxied:
            name = "b" if name == "a" else "a"
            current = server(name)
            current.wait("waiting for the database")
            time.sleep(0.5)
            stopped = time.monotonic()
            old.stop()
            listening = current.wait('"event":"listening"')
        else:
            stopped = time.monotonic()
            old.stop()
            old.process.wait(45)
            current = server(name)
            listening = current.wait('"event":"listening"')
        back = wait_for_sessions(folder, ports[name][2], CONNECTIONS)
        faults += back is None
        first = current.find("session opened", seconds=0)
        status = old.process.wait(60)
        faults += status != 0
        print(f"upgrade {number + 1}: stop to listening {listening - stopped:.2f} s, listening to first session "
              f"{'none' if first is None else f'{first - listening:.2f} s'}, all {CONNECTIONS} sessions "
              f"{'never' if back is None else f'{time.monotonic() - listening:.1f} s at most'}; old server ended with {status} after "
              f"{time.monotonic() - stopped:.1f} s at most; load {os.getloadavg()[0]:.1f}", flush=True)
    time.sleep(max(0.0, began + options.seconds - time.monotonic()))
    load.end()
    over.set()
    until = time.monotonic() + 30
    while set(load.acknowledged) - set(arrivals.times) and time.monotonic() < until:
        time.sleep(0.1)
    lost = set(load.acknowledged) - set(arrivals.times)
    twice = [number for number, times in arrivals.times.items() if len(times) > 1]

    failed = [(kind_, at, outcome) for kind_, at, outcome in load.outcomes if outcome != "OK"]
    count = collections.Counter(kind_ for kind_, _, _ in load.outcomes)
    broke = collections.Counter(outcome.split(":")[0] if outcome[0] in "rc" else outcome[:3] for _, _, outcome in failed)
    print(f"requests: {count['new']} on new connections, {count['kept']} on {KEPT} kept ones, {count['webhook']} webhooks; "
          f"{broke['cut']} cut, {broke['refused']} refused, "
          f"{sum(broke.values()) - broke['cut'] - broke['refused']} answered otherwise {dict(broke)}")
    print(f"latency: p50 {percentile(load.waits, .5) * 1000:.0f} ms, p99 {percentile(load.waits, .99) * 1000:.0f} ms, longest "
          f"{max(load.waits) * 1000:.0f} ms, over 1 s: {sum(wait > 1 for wait in load.waits)}")
    delays = [max(0.0, min(arrivals.times[one]) - at) for one, at in load.acknowledged.items() if one in arrivals.times]
    print(f"webhooks: {len(load.acknowledged)} acknowledged, {load.unacknowledged} posts not, {len(lost)} lost, {len(twice)} "
          f"delivered twice; acknowledgement to arrival p99 {percentile(delays, .99):.2f} s, longest {max(delays):.2f} s")
    if not proxied:
        print("without a listener: " + ", ".join(f"{gap:.2f} s" for gap in gaps))
    for kind_, at, outcome in failed[:10] if proxied else []:
        print(f"failed: {kind_}, {at - began:.2f} s after the begin: {outcome}")
    return faults + len(lost) + len(twice) + (len(failed) if proxied else 0)


main()
