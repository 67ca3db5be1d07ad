#!/usr/bin/env python3
"""Takes the server from many tunnel clients, gives it back, and measures how they return.

Many clients, two connections each, run in a few processes. The server is killed (SIGKILL) and started again after 5 s, twice: the
second time strangers flood its tunnel listener from 127.0.0.2 to 127.0.0.9, before, during and after. A few runtimes in
a process of their own are asked all the time; from the moment that one of them is back, its requests count. A warm-up
round before does not count: nobody's server compiles its code in a storm for the first time. Exits 1 if missed.

Needs: python3 and ./culvert of this repository. Everything stays on 127.0.0.0/8.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from parts import ROOT, Part, free_port, percentile

DOMAIN = "storm.test"
WITNESSES = 5
STABLE = 27  # seconds; a session that lived for 25 s starts a client's back-off anew


class Watched(Part):
    """A part whose lines carry the clock's time, which processes share."""

    def __init__(self, name, folder, *arguments, options=""):
        super().__init__(name, folder, *arguments, options=options, kept=r"(up|down|get|flood|started) |\{", clock=time.time)

    def ups(self, since):
        """When each client came up first after that moment, in seconds of the clock."""
        ups = {}
        with self.seen:
            lines = list(self.lines)
        for _, line in lines:
            words = line.split()
            if words[0] == "up" and int(words[2]) / 1000 >= since:
                ups.setdefault(int(words[1]), int(words[2]) / 1000)
        return ups

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024


class Storm:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.edge, self.tunnel, self.admin = free_port(), free_port(), free_port()
        self.parts = []
        self.clients = []

    def serve(self):
        server = Watched("server", self.folder, "server", "--config", str(self.folder / "server.yaml"), "--log-level",
                      "warn", options=self.options.server_java)
        self.parts.append(server)
        return server, server.wait('{"event":"listening"')

    def prepare(self):
        subprocess.run([str(ROOT / "culvert"), "certs", "init", "--dir", str(self.folder / "certs"), "--domain", DOMAIN],
                       check=True, stdout=subprocess.DEVNULL)
        (self.folder / "server.yaml").write_text(f"""\
edge: {{ listen: 127.0.0.1:{self.edge}, domain: {DOMAIN}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }} }}
tunnel:
  listen: 127.0.0.1:{self.tunnel}
  tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }}
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}
admin: {{ listen: 127.0.0.1:{self.admin}, tokenFile: admin.token }}
dataDir: data
""")
        self.server, _ = self.serve()
        self.register()
        self.start_clients()

    def register(self):
        token = (self.folder / "admin.token").read_text().strip()
        admin = http.client.HTTPConnection("127.0.0.1", self.admin, timeout=60)
        (self.folder / "clients").mkdir()
        for number in range(self.options.clients + WITNESSES):
            admin.request("POST", "/api/v1/runtimes", json.dumps({"account": "storm", "name": f"r{number}", "hosts": []}),
                          {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
            answer = admin.getresponse()
            body = answer.read()
            if answer.status != 201:
                sys.exit(f"runtime {number}: {answer.status} {body}")
            (self.folder / "clients" / f"{number}.token").write_text(json.loads(body)["enrolmentToken"])

    def start_clients(self):
        total, processes = self.options.clients, self.options.processes
        bounds = [total * i // processes for i in range(processes + 1)] + [total + WITNESSES]
        for number in range(processes + 1):
            part = Watched(f"clients-{number}", self.folder, "bench", "storm", "clients", "--server",
                        f"wss://127.0.0.1:{self.tunnel}", "--dir", str(self.folder / "clients"), "--from",
                        str(bounds[number]), "--to", str(bounds[number + 1]), options=self.options.client_java)
            self.parts.append(part)
            self.clients.append(part)
        deadline = time.time() + 600
        while sum(len(part.ups(0)) for part in self.clients) < total + WITNESSES:
            if time.time() > deadline:
                sys.exit("not all clients came up; see " + str(self.folder))
            time.sleep(0.2)
        hosts = ",".join(f"storm-r{number}.{DOMAIN}" for number in range(total, total + WITNESSES))
        self.callers = Watched("callers", self.folder, "bench", "storm", "callers", "--edge", f"127.0.0.1:{self.edge}",
                            "--hosts", hosts, "--rate", str(self.options.rate))
        self.parts.append(self.callers)
        self.callers.wait("get ")

    def round(self, flooded):
        time.sleep(STABLE)
        flood = None
        if flooded:
            flood = Watched("flood", self.folder, "bench", "storm", "flood", "--port", str(self.tunnel), "--rate",
                         str(self.options.flood))
            self.parts.append(flood)
            flood.wait("flood ")
        calm = self.latencies(time.time() - 20, time.time())
        killed = time.time()
        self.server.process.kill()
        self.server.process.wait()
        time.sleep(self.options.away)
        cpu_before = [part.cpu() for part in self.clients]
        self.server, back = self.serve()
        total = self.options.clients
        while time.time() < back + 60:
            ups = {}
            for part in self.clients:
                ups.update(part.ups(killed + 0.2))
            if len(ups) == total + WITNESSES:
                break
            time.sleep(0.1)
        time.sleep(3)
        if flood:
            flood.end()
        storm = sorted(at - back for number, at in ups.items() if number < total)
        end = max(ups.values(), default=back)
        since = {number: at for number, at in ups.items() if number >= total}
        served = [taken for number, at in since.items() for taken in self.latencies(at, max(end, at + 5), number - total)]
        failed = [1 for number, at in since.items() for _ in self.failures(at, max(end, at + 5), number - total)]
        return {
            "away": back - killed, "missing": total - len(storm), "p50": percentile(storm, .5),
            "p95": percentile(storm, .95) if len(storm) >= .95 * total else float("inf"),
            "all": max(storm) if len(storm) == total else float("inf"),
            "witness": max((at - back for at in since.values()), default=float("inf")),
            "calm p99": percentile(calm, .99), "requests": len(served), "failed": len(failed),
            "p99": percentile(served, .99) if served else float("inf"), "longest": max(served, default=float("inf")),
            "client cpu": sum(part.cpu() for part in self.clients) - sum(cpu_before), "server cpu": self.server.cpu(),
            "server MiB": self.server.resident(), "clients MiB": sum(part.resident() for part in self.clients),
        }

    def answers(self, since, until, number):
        with self.callers.seen:
            lines = list(self.callers.lines)
        for _, line in lines:
            _, host, status, began, micros = line.split()
            if since <= int(began) / 1000 <= until and number in (None, int(host)):
                yield int(status), int(micros) / 1000

    def latencies(self, since, until, number=None):
        return [taken for status, taken in self.answers(since, until, number) if status == 200]

    def failures(self, since, until, number=None):
        return [status for status, _ in self.answers(since, until, number) if status != 200]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--clients", type=int, default=2000)
    arguments.add_argument("--processes", type=int, default=4)
    arguments.add_argument("--away", type=float, default=5)
    arguments.add_argument("--rate", type=int, default=100, help="requests a second to the watched runtimes")
    arguments.add_argument("--flood", type=int, default=400, help="strangers a second")
    arguments.add_argument("--rounds", default="warm-up,alone,flooded")
    arguments.add_argument("--server-java", default="", help="options of the server's JVM")
    arguments.add_argument("--client-java", default="", help="options of the clients' JVMs")
    options = arguments.parse_args()
    os.umask(0o077)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-storm-"))
    storm = Storm(options, folder)
    results = {}
    try:
        storm.prepare()
        print(f"{options.clients} clients in {options.processes} processes; logs: {folder}", flush=True)
        for name in options.rounds.split(","):
            results[name] = storm.round(name == "flooded")
            print(name, json.dumps({key: round(value, 2) for key, value in results[name].items()}), flush=True)
    finally:
        for part in reversed(storm.parts):
            part.end()
    sys.exit(report(results))


def report(results):
    missed = []

    def bound(name, what, value, most, unit):
        good = value < most
        print(f"| {name} | {what} | {value:.1f} {unit} | {most:.1f} {unit} | {'held' if good else 'MISSED'} |")
        if not good:
            missed.append(what)
    print("| round | figure | measured | bound | |\n|---|---|---|---|---|")
    for name, result in results.items():
        if name == "warm-up":
            continue
        bound(name, "95 % are back after", result["p95"], 20, "s")
        bound(name, "all are back after", result["all"], 40, "s")
        bound(name, "requests failed", result["failed"], 1, "")
        if name == "alone":
            bound(name, "p99 of runtimes that are back", result["p99"], 250, "ms")
    if "alone" in results and "flooded" in results:
        bound("flooded", "p99 of runtimes that are back", results["flooded"]["p99"], 1.5 * results["alone"]["p99"], "ms")
    return 1 if missed else 0


main()
