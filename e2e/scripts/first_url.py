#!/usr/bin/env python3
"""From nothing to the first 200, as README.md says it, on the archive of `mvn package`.

Runs the blocks of `sh` below "Run it" of README.md exactly, but for ports that are taken: the demo from the repository,
then the archive, a server and `culvert http 3000`, each block a terminal, until curl gets the service's 200. Then counts
what was typed, beside what the documents of ngrok and cloudflared say is typed there, and compares the table with that
of docs/install.md.

A command is one of the program itself; words are those that a shell splits it into; lines are those of files that have
to be written. Not counted: installing, and what is done in a browser (an account, a domain). What must be understood is
a judgement, and stands in this file.

Prints a line for each fact and the table; exits 1 if one is not so. Needs python3, bash, curl and the archive in
deploy/dist/target. Everything stays on 127.0.0.1.
"""
import argparse
import http.server
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from parts import ROOT, free_port

README, INSTALL = ROOT / "README.md", ROOT / "docs" / "install.md"
PORTS = ("8443", "7443", "9090", "3000")
ANSWER = b"hello from port 3000\n"
LIMIT = 60  # seconds; until a block says that it is ready
BUILD = 900  # seconds; until the demo is built
READY = ((" demo", '"event":"demo-ready"'), ("culvert server", '"event":"listening"'), ("culvert http", " leads to "))

# What others' own documents let one type, installed, for a local port: (way, what must be understood, lines of files,
# what is not typed, commands).
OTHERS = (
    ("ngrok ([Agent CLI quickstart](https://ngrok.com/docs/getting-started))", "account, authtoken", 0,
     "sign up in a browser", ("ngrok config add-authtoken TOKEN", "ngrok http 3000")),
    ("cloudflared, a URL until it ends ([TryCloudflare](https://developers.cloudflare.com/cloudflare-one/connections/"
     "connect-networks/do-more-with-tunnels/trycloudflare/))", "nothing", 0, "–",
     ("cloudflared tunnel --url http://localhost:3000",)),
    ("cloudflared, a URL that stays ([Create a locally-managed tunnel](https://developers.cloudflare.com/cloudflare-one/"
     "connections/connect-networks/do-more-with-tunnels/local-management/create-local-tunnel/))",
     "account, zone, tunnel, DNS route", 3, "sign up, add a domain and log in, in a browser",
     ("cloudflared tunnel login", "cloudflared tunnel create NAME", "cloudflared tunnel route dns NAME HOST",
      "cloudflared tunnel run NAME")),
)
facts, wrong = 0, []


def fact(name, good, told=""):
    global facts
    facts += 1
    print(("ok    " if good else "FAIL  ") + name + (f": {told}" if told else ""), flush=True)
    if not good:
        wrong.append(name)
    return good


def blocks(document, heading):
    """The blocks of sh below a heading, down to the next one of its level."""
    text = document.read_text()
    level = heading.split(" ", 1)[0]
    section = text.split(f"\n{heading}\n", 1)[1].split(f"\n{level} ", 1)[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)


def typed(block):
    """The commands of the program in a block, as words, and the number of lines of files."""
    commands, lines, end = [], 0, None
    for line in block.replace("\\\n", " ").splitlines():
        if end:
            end = None if line == end else end
            lines += end is not None
            continue
        here = re.search(r"<<'?(\w+)'?", line)
        end = here and here[1]
        for command in line.split(" #")[0].split("&&"):
            words = shlex.split(command)
            if words and words[0].endswith("culvert"):
                commands.append(words)
    return commands, lines


def taken(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", int(port)))
        except OSError:
            return True
    return False


class Terminal:
    """A block that runs in a bash of its own, until it ends or is ended."""

    def __init__(self, block, folder, home, name):
        self.log = home / f"{name}.log"
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CULVERT_", "XDG_"))}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(["bash", "-e", "-c", block], cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, start_new_session=True,
                                            env=dict(environment, HOME=str(home)))

    def text(self):
        return self.log.read_text(errors="replace")

    def says(self, text, limit):
        """Whether it prints a text in time."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if text in self.text():
                return True
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        return text in self.text()

    def end(self):
        """Ctrl-C, as a person at the terminal would. Returns whether it ended by that."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(30)
            return True
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return False


def service(port):
    """Something that listens on port 3000."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()


def run(home):
    """Runs the blocks in their order."""
    moved = {port: port if not taken(port) else str(free_port()) for port in PORTS}
    service(int(moved["3000"]))
    running = []
    try:
        for number, block in enumerate(blocks(README, "## Run it")):
            text = block
            if " demo" in block:
                offset = 0 if all(moved[port] == port for port in PORTS[:3]) else free_port() % 10000 + 10000
                text = block.rstrip("\n") + (f" --port-offset {offset}" if offset else "") + "\n"
            else:
                text = re.sub(r"(?<!\d)(" + "|".join(PORTS) + r")(?!\d)", lambda found: moved[found[0]], block)
            began = time.monotonic()
            terminal = Terminal(text, ROOT, home, f"terminal-{number}")
            name = (typed(block)[0] or [shlex.split(block.replace("\\\n", " "))])[-1]
            ready = next((ready for word, ready in READY if word in block), None)
            if ready is None:
                code = terminal.process.wait(LIMIT)
                fact(" ".join(name)[:60], code == 0 and ANSWER.decode() in terminal.text(), terminal.text().strip().splitlines()[-1:])
                continue
            running.append(terminal)
            if not fact(" ".join(name)[:60], terminal.says(ready, BUILD if " demo" in block else LIMIT),
                        f"{time.monotonic() - began:.1f} s"):
                print(terminal.text()[-2000:])
                return
            if " demo" in block:
                fact("Ctrl-C ends the demo", running.pop().end())
    finally:
        for terminal in reversed(running):
            terminal.end()


def table():
    """The rows of what is typed: way, commands, words, lines of files, what must be understood, what is not typed."""
    there = typed(blocks(INSTALL, "### One local service")[0])
    own = [typed(block) for block in blocks(README, "## Run it") if " demo" not in block]
    rows = [("Culvert, where somebody runs a server", there[0], there[1], "server, token", "ask for a token"),
            *((way, [command.split() for command in commands], lines, understood, browser)
              for way, understood, lines, browser, commands in OTHERS),
            ("Culvert, with a server of your own ([README](../README.md#run-it))",
             [command for commands, _ in own for command in commands], sum(lines for _, lines in own),
             "authority, server, runtime, token", "–")]
    return [f"| {way} | {len(commands)} | {sum(map(len, commands))} | {lines} | {understood} | {untyped} |"
            for way, commands, lines, understood, untyped in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true", help="only count, and compare the table of docs/install.md")
    parser.add_argument("--keep", action="store_true", help="leave the folder of logs")
    arguments = parser.parse_args()
    rows = table()
    print("\n".join(rows))
    fact("docs/install.md has these rows", all(row in INSTALL.read_text() for row in rows))
    if not arguments.count:
        home = pathlib.Path(tempfile.mkdtemp(prefix="culvert-first-"))
        run(home)
        if arguments.keep or wrong:
            print(f"logs: {home}")
        else:
            shutil.rmtree(home)
    print(f"{facts} facts, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
