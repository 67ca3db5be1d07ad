#!/usr/bin/env python3
"""Sends durable webhooks at a steady rate through edge, inbox, tunnel and router, and tells how long they took.

h2load sends webhooks of 2 KiB to 32 event sources (nginx) through a server with a heap of 64 MiB; half-way, 20 callers send one
of 25 MiB each beside them. The server answers each as soon as it is stored (answerWithin: 0s), so that an answer's time is
that of taking a webhook in. Prints the rate, the percentiles before and beside the large ones, the server's memory, and what
one INSERT per fsync manages on the same disk. Exits 1 if the rate or the bound of 50 ms for the 99th percentile is missed, if a
webhook was refused, or if one was not delivered.

Needs: h2load, nginx, python3 and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from parts import ROOT, Part, free_port, percentile

DOMAIN = "load.test"
HOST = "acme-prod." + DOMAIN
BOUND = 0.05  # seconds


def write(folder, edge, tunnel, admin, upstream, sources):
    (folder / "server.yaml").write_text(f"""\
edge: {{ listen: 127.0.0.1:{edge}, domain: {DOMAIN}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }} }}
tunnel:
  listen: 127.0.0.1:{tunnel}
  tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }}
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}
admin: {{ listen: 127.0.0.1:{admin}, tokenFile: admin.token }}
dataDir: data
inbox: {{ perAddress: 1000000, answerWithin: 0s }} # each is answered as soon as it is stored
""")
    names = [f"s{i}" for i in range(sources)] + [f"big{i}" for i in range(20)]
    (folder / "client.yaml").write_text(f"""\
server: wss://127.0.0.1:{tunnel}
serverCa: certs/ca.crt
enrolmentTokenFile: token
identityDir: identity
health: {{ listen: "127.0.0.1:0" }}
router:
  routes:
    - {{ path: "/webhooks/{{namespace}}/{{eventSource}}/", to: "http://{{eventSource}}.{{namespace}}.test:{upstream}", delivery: durable }}
  policy: {{ webhooks: {{ allow: ["ci/*"] }} }}
  resolve: {{ {", ".join(f'"{name}.ci.test": "127.0.0.1:{upstream}"' for name in names)} }}
""")
    (folder / "nginx.conf").write_text(f"""\
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 100000000; client_max_body_size 0;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{upstream}; location / {{ return 200 success; }} }} }}
""")


def large(edge, number, body, outcomes):
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", edge, context=tls, timeout=120)
    began = time.monotonic()
    try:
        connection.request("POST", f"/webhooks/ci/big{number}/x", body, {"Host": HOST})
        outcomes.append((connection.getresponse().status, time.monotonic() - began))
    except (OSError, http.client.HTTPException) as e:
        outcomes.append((type(e).__name__, time.monotonic() - began))


def metrics(admin):
    text = urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics", timeout=10).read().decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
            if line and not line.startswith("#")}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rate", type=int, default=1500, help="webhooks a second (default: 1500)")
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--warm-up", type=int, default=30, help="seconds before, which do not count (default: 30)")
    options = arguments.parse_args()
    for tool in ("h2load", "nginx"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is not installed")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-inbox-"))
    edge, tunnel, admin, upstream = free_port(), free_port(), free_port(), free_port()
    culvert = str(ROOT / "culvert")
    subprocess.run([culvert, "certs", "init", "--dir", str(folder / "certs"), "--domain", DOMAIN], check=True,
                   stdout=subprocess.DEVNULL)
    sources = 32
    write(folder, edge, tunnel, admin, upstream, sources)
    (folder / "body").write_bytes(os.urandom(2048))
    body = os.urandom(25 << 20)  # to sources of their own: no duplicates
    nginx = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf")])
    parts = []
    faults = []
    try:
        server = Part("server", folder, "server", "--config", str(folder / "server.yaml"), options="-Xmx64m")
        parts.append(server)
        server.wait('"event":"listening"')
        subprocess.run([culvert, "runtime", "create", "acme", "prod", "--token-file", str(folder / "token"), "--admin",
                        f"http://127.0.0.1:{admin}", "--admin-token-file", str(folder / "admin.token")], check=True,
                       stdout=subprocess.DEVNULL)
        parts.append(Part("client", folder, "client", "--config", str(folder / "client.yaml")))
        parts[-1].wait('"event":"connected"')

        def load(seconds, log):
            command = ["h2load", "-c", str(sources), "-m", "32", f"--rps={options.rate / sources}", "-D", str(seconds),
                       "-d", str(folder / "body"), f"--connect-to=127.0.0.1:{edge}", f"--log-file={log}",
                       *(f"https://{HOST}/webhooks/ci/s{i}/x" for i in range(sources))]
            return subprocess.Popen(command, stdout=open(folder / "h2load.log", "a"), stderr=subprocess.STDOUT)

        load(options.warm_up, folder / "warm-up").wait()
        before = metrics(admin)
        run = load(options.seconds, folder / "answers")
        time.sleep(options.seconds / 2)
        outcomes = []
        senders = [threading.Thread(target=large, args=(edge, i, body, outcomes)) for i in range(20)]
        beside = time.time()
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        alone = time.time()
        run.wait()
        after = metrics(admin)
        answers = [line.split() for line in (folder / "answers").read_text().splitlines()]
        latencies = [int(fields[2]) / 1e6 for fields in answers]
        quiet = [int(fields[2]) / 1e6 for fields in answers if not beside - 1 <= int(fields[0]) / 1e6 <= alone]
        busy = [int(fields[2]) / 1e6 for fields in answers if beside <= int(fields[0]) / 1e6 <= alone]
        statuses = collections.Counter(fields[1] for fields in answers)
        rate = len(answers) / options.seconds
        p99 = percentile(latencies, .99)
        print(f"{rate:.0f} webhooks of 2 KiB a second for {options.seconds} s; answers {dict(statuses)}")
        print(f"answered after: p50 {percentile(latencies, .5) * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, "
              f"longest {max(latencies, default=0) * 1000:.0f} ms")
        for when, some in (("without large ones", quiet), ("beside large ones", busy)):
            print(f"  {when}: {len(some)}, p50 {percentile(some, .5) * 1000:.1f} ms, p99 {percentile(some, .99) * 1000:.1f} ms")
        for name in sorted(after):
            if re.match(r"culvert_(webhook|inbox)\w*(_sum|_count|_max)?[{ ]?", name):
                print(f"  {name}: {before.get(name, 0):g} -> {after[name]:g}")
        print(f"20 of 25 MiB beside: {collections.Counter(status for status, _ in outcomes)}, "
              f"longest {max(took for _, took in outcomes):.1f} s")
        heap = sum(value for name, value in after.items() if name.startswith('jvm_memory_max_bytes{area="heap"'))
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        resident = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024
        print(f"server: heap of at most {heap / (1 << 20):.0f} MiB, resident {resident} MiB")
        deadline = time.monotonic() + 60
        while metrics(admin)['culvert_webhooks{state="pending"}'] > 0 and time.monotonic() < deadline:
            time.sleep(0.5)
        pending = json.load(urllib.request.urlopen(urllib.request.Request(
            f"http://127.0.0.1:{admin}/api/v1/webhooks?state=pending&limit=200",
            headers={"Authorization": "Bearer " + (folder / "admin.token").read_text().strip()})))["items"]
        print(f"pending at the end: {len(pending)}")
        if rate < options.rate * .99:
            faults.append(f"only {rate:.0f} a second")
        if p99 > BOUND:
            faults.append(f"p99 of {p99 * 1000:.0f} ms, above {BOUND * 1000:.0f}")
        if any(not status.startswith("2") for status in statuses):
            faults.append("answers other than 2xx")
        if any(not str(status).startswith("2") for status, _ in outcomes):
            faults.append(f"large ones refused: {outcomes}")
        if pending:
            faults.append(f"{len(pending)} pending")
    finally:
        for part in reversed(parts):
            part.end()
        nginx.terminate()
        nginx.wait()
    (folder / "bench").mkdir()
    bench = subprocess.run([culvert, "bench", "inbox", "--dir", str(folder / "bench")], capture_output=True, text=True)
    print(bench.stdout.strip() or bench.stderr.strip())
    print(f"logs: {folder}")
    for fault in faults:
        print(f"FAILED: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
