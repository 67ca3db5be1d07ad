"""Processes of Culvert for the scripts beside this file, and other code that they share."""
import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DONE, FAILED = [], []


def check(name, ok, detail=""):
    """Prints and counts a check; the detail of one that failed."""
    DONE.append(name)
    print(f"{'ok  ' if ok else 'FAIL'} {name}{': ' + detail if detail and not ok else ''}", flush=True)
    if not ok:
        FAILED.append(name)


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def culvert(*arguments):
    """Runs a command of ./culvert that must succeed."""
    subprocess.run([str(ROOT / "culvert"), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def percentile(values, part):
    """The value that this part of them does not exceed; 0 of none."""
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else 0.0


class EventSource:
    """An HTTP server on a free port that reads JSON webhooks. receive(webhook) returns the status to answer."""

    def __init__(self, receive):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                webhook = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(receive(webhook))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()


class Part:
    """A process of ./culvert. Its lines are kept with their time of arrival; its whole output is written to NAME.log.

    namespace: the network namespace that it runs in. cgroup: the folder of the control group that it runs in. kept: a pattern; lines that begin with it are kept and not logged,
    the others only logged. clock: the clock of the times.
    """

    def __init__(self, name, folder, *arguments, namespace=None, cgroup=None, options="", kept=None,
                 clock=time.monotonic):
        self.lines = []
        self.seen = threading.Condition()
        self.kept = kept and re.compile(kept)
        self.clock = clock
        self.log = open(folder / (name + ".log"), "a")
        within = ["ip", "netns", "exec", namespace] if namespace else []
        if cgroup:
            within += ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(cgroup)]
        environment = dict(os.environ, CULVERT_JAVA_OPTS=options) if options else None
        self.process = subprocess.Popen([*within, str(ROOT / "culvert"), *arguments], stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, env=environment)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            keep = not self.kept or self.kept.match(line)
            if not self.kept or not keep:
                self.log.write(line)
                self.log.flush()
            if keep:
                with self.seen:
                    self.lines.append((self.clock(), line.strip()))
                    self.seen.notify_all()

    def find(self, text, since=0.0, seconds=60, count=1):
        """The time of the last of count lines with that text after that moment; None if they did not arrive in time."""
        def found():
            return [at for at, line in self.lines if at > since and text in line]
        with self.seen:
            self.seen.wait_for(lambda: len(found()) >= count, seconds)
            return (found() + [None] * count)[count - 1]

    def wait(self, text, seconds=120):
        """The time of the first line with that text; without one, ends the script."""
        at = self.find(text, seconds=seconds)
        if at is None:
            sys.exit(f"no {text} within {seconds} s; see {self.log.name}")
        return at

    def stop(self):
        """Asks it to end."""
        self.process.send_signal(signal.SIGTERM)

    def end(self):
        """Ends it, and waits for that."""
        if self.process.poll() is None:
            self.stop()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()


class Gateway:
    """A server with the runtime acme/prod, and its client, on free ports and with new certificates in a folder."""

    def __init__(self, folder, domain, options=""):
        self.folder = folder
        self.options = options
        self.parts = {}
        self.edge, self.tunnel, self.admin = (free_port() for _ in range(3))
        culvert("certs", "init", "--dir", folder / "certs", "--domain", domain)
        (folder / "server.yaml").write_text(f"""\
edge: {{ listen: 127.0.0.1:{self.edge}, domain: {domain}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }} }}
tunnel:
  listen: 127.0.0.1:{self.tunnel}
  tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }}
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}
admin: {{ listen: 127.0.0.1:{self.admin}, tokenFile: admin.token }}
dataDir: data
""")

    def start(self, name, event, cgroup=None):
        """Starts a part with its file NAME.yaml and waits for an event in its log."""
        self.parts[name] = Part(name, self.folder, name, "--config", str(self.folder / (name + ".yaml")),
                                options=self.options, cgroup=cgroup)
        self.parts[name].wait(f'"event":"{event}"')

    def connect(self, router, client=None, server=None):
        """Starts the server and a client with this configuration of its router, and waits for the tunnel.

        client, server: the control groups that they run in.
        """
        (self.folder / "client.yaml").write_text(f"""\
server: wss://127.0.0.1:{self.tunnel}
serverCa: certs/ca.crt
enrolmentTokenFile: token
identityDir: identity
health: {{ listen: "127.0.0.1:0" }}
router:
{router}""")
        self.start("server", "listening", server)
        culvert("runtime", "create", "acme", "prod", "--token-file", self.folder / "token", "--admin",
                f"http://127.0.0.1:{self.admin}", "--admin-token-file", self.folder / "admin.token")
        self.start("client", "connected", client)

    def end(self):
        """Ends all parts, the last started first."""
        for part in reversed(self.parts.values()):
            part.end()
