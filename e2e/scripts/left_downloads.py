#!/usr/bin/env python3
"""Sends small requests beside large downloads that their caller leaves, through edge, tunnel, router and an upstream.

The caller is Node with undici over HTTP/2; the upstream, Node's HTTP/1.1 server, closes idle connections after 1 s, then
after 60 s. Each lane of the caller reads up to 256 KiB of a download, leaves it, and sends a burst of small requests at once. An
answer holds the number of its request, and its body when it is a POST; the bytes of a download are its own. Exits 1 if an
answer was another request's, if a status was not 200, if a request failed, or if a log has an event of a closed descriptor
(NotYetConnectedException, Socket.recvAddress), a leaked buffer, a warning or an error.

Needs: python3, node 20.18 or newer, npm (fetches undici), and ./culvert of this repository. Everything else stays on
127.0.0.1.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from parts import Gateway

DOMAIN = "left.test"
HOST = "acme-prod." + DOMAIN
UNDICI = "undici@7.30.2"
PROGRAM = str(pathlib.Path(__file__).with_suffix(".mjs"))
SIGNS = {"NotYetConnectedException": re.compile("NotYetConnectedException"),
         "Socket.recvAddress": re.compile("recvAddress"), "leaked buffer": re.compile("LEAK:"), "warning or error": re.compile(r"\S+Z (WARN|ERROR) ")}


class Upstream:
    def __init__(self, keep_alive):
        self.process = subprocess.Popen(["node", PROGRAM, "serve", str(keep_alive)], stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())["port"]

    def end(self):
        """Ends it and returns how many connections and requests it had."""
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=15)[0])


def logs(folder):
    """How often each sign of trouble is in each log."""
    found = collections.Counter()
    for log in sorted(folder.glob("*.log")):
        with open(log, errors="replace") as lines:
            for line in lines:
                found.update(f"{log.name}: {name}" for name, sign in SIGNS.items() if sign.search(line))
    return dict(found)


def round_of(folder, keep_alive, options):
    """One run with an upstream, a server and a client of its own. Returns what is to be told of it."""
    folder.mkdir()
    upstream = Upstream(keep_alive)
    gateway = Gateway(folder, DOMAIN, options.java)
    try:
        gateway.connect(f"""  routes: [{{ path: /, to: "http://127.0.0.1:{upstream.port}" }}]\n""")
        work = {"host": HOST, "port": gateway.edge, "ca": str(folder / "certs" / "ca.crt"), "modules": str(options.modules),
                "requests": options.requests, "downloads": options.downloads, "lanes": options.lanes,
                "mib": options.mib, "read": 256 * 1024, "posts": options.posts, "pauses": 0.1, "seed": options.seed}
        caller = subprocess.run(["node", PROGRAM, "call", json.dumps(work)], stdout=subprocess.PIPE, text=True)
        told = json.loads(caller.stdout) if caller.returncode == 0 else {"caller": caller.returncode}
        died = [name for name, part in gateway.parts.items() if part.process.poll() is not None]
    finally:
        gateway.end()
        seen = upstream.end()
    return {"keepAliveSeconds": keep_alive, "upstream": seen, "logs": logs(folder), "died": died, **told}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--requests", type=int, default=100_000,
                           help="in all, half for each keep-alive (default: 100,000)")
    arguments.add_argument("--downloads", type=int, default=2_000, help="in all, as --requests (default: 2,000)")
    arguments.add_argument("--short", action="store_true", help="8,000 requests beside 400 downloads")
    arguments.add_argument("--keep-alive", default="1,60",
                           help="of the upstream, in seconds, a run for each (default: 1,60)")
    arguments.add_argument("--lanes", type=int, default=8, help="of the caller, a connection each (default: 8)")
    arguments.add_argument("--mib", type=int, default=32, help="of each download (default: 32)")
    arguments.add_argument("--posts", type=float, default=0.3, help="part of the requests that are POST (default: 0.3)")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--java", default="", help="options of the parts' JVMs")
    arguments.add_argument("--json", action="store_true", help="prints the report as JSON")
    arguments.add_argument("--keep", action="store_true", help="keeps the folder with the logs")
    options = arguments.parse_args()
    times = options.keep_alive.split(",")
    if options.short:
        options.requests, options.downloads = 8_000, 400
    options.requests //= len(times)
    options.downloads //= len(times)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-left-"))
    options.modules = folder
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), UNDICI], check=True)
    report = [round_of(folder / f"keep-alive-{time}", int(time), options) for time in times]
    faulty = [told for told in report if told["logs"] or told["died"] or told.get("correct", -1) != options.requests
              or told["failed"] or told["left"] != options.downloads]
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        for told in report:
            print(f"upstream's keep-alive {told['keepAliveSeconds']} s: {told.get('correct')} of {told.get('requests')} "
                  f"requests answered rightly beside {told.get('left')} left downloads, in {told.get('seconds')} s; "
                  f"wrong answers: {told.get('wrong')}, failed: {told.get('failed')}, problems: {told.get('problems')}; "
                  f"in the logs: {told['logs'] or 'nothing'}; upstream: {told['upstream']}")
            for text in told.get("samples", []):
                print(f"  {text}")
    if options.keep or faulty:
        print(f"logs: {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    sys.exit(1 if faulty else 0)


if __name__ == "__main__":
    main()
