#!/usr/bin/env python3
"""Runs the commands of docs/tutorial-argo-events.md, and compares what they print with the page.

The page's blocks of `sh` are split into commands, which one shell runs in order in an empty folder, with free ports in
place of those that the page names. A command must end with 0 within a minute. A block without a language is what the
commands of the block of `sh` before it print, line by line; … in it stands for any text. Blocks of `sh cluster` need a
cluster and are only counted. The page's YAML must be what its text says of it: the event source listens where the
chart's example (deploy/helm/examples/github.yaml) and the payload URL lead.

Prints a line for each command; exits 1 if one is wrong. Needs python3, PyYAML, bash, curl, openssl, and ./culvert of
this repository. Everything stays on 127.0.0.1.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import yaml

from parts import DONE, FAILED, ROOT, check, free_port

PAGE = ROOT / "docs" / "tutorial-argo-events.md"
VALUES = ROOT / "deploy" / "helm" / "examples" / "github.yaml"
PORTS = ("8443", "7443", "9090", "8081", "12000")
LIMIT = 60  # seconds; a command


def blocks():
    """The page's fenced blocks, (language, text), in their order."""
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def commands(block):
    """The commands of a block: lines are taken together until bash finds them complete."""
    found, command = [], ""
    for line in block.splitlines(keepends=True):
        command += line
        read = subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True, check=False)
        if not read.returncode and not read.stderr and not line.endswith("\\\n") and command.strip():
            found.append(command)
            command = ""
    if command.strip():
        sys.exit(f"not a command: {command}")
    return found


class Shell:
    """A bash that runs one command after another in a folder, and the processes that they start."""

    def __init__(self, folder):
        self.folder = folder
        self.output = folder.parent / "output"
        self.process = subprocess.Popen(["bash", "--norc"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, start_new_session=True, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, PATH=f"{ROOT}:{os.environ['PATH']}"))

    def run(self, command):
        """The exit code, None if it does not end in time, and what was printed."""
        file = self.folder.parent / "command"
        file.write_text(command)
        self.process.stdin.write(f". {file} < /dev/null > {self.output} 2>&1; echo $?\n")
        self.process.stdin.flush()
        late = threading.Timer(LIMIT, self.end)
        late.start()
        code = self.process.stdout.readline().strip()
        late.cancel()
        return int(code) if code else None, self.output.read_text()

    def end(self):
        """Ends it and all that it has started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def fits(printed, page):
    """Whether lines are those of the page, in which … is any text and blanks are as wide as they like."""
    printed, page = (text.strip().splitlines() for text in (printed, page))
    patterns = [r"\s*".join(r".*".join(re.escape(part) for part in word.split("…")) for word in line.split())
                for line in page]
    return len(printed) == len(page) and all(re.fullmatch(pattern, line.strip())
                                             for pattern, line in zip(patterns, printed))


def run(folder):
    """Runs the page in a folder."""
    ports = {port: str(free_port()) for port in PORTS}

    def moved(text):
        return re.sub(r"(?<!\d)(" + "|".join(PORTS) + r")(?!\d)", lambda found: ports[found[0]], text)

    shell = Shell(folder)
    printed, away = None, 0
    try:
        for language, text in blocks():
            if language == "sh":
                printed = ""
                for command in commands(text):
                    code, output = shell.run(moved(command))
                    check(command.splitlines()[0], code == 0, f"{code} {output}")
                    if code is None:
                        return
                    printed += output
            elif language == "sh cluster":
                away += len(commands(text))
                printed = None
            elif not language and printed is not None:
                check("prints " + text.splitlines()[0], fits(printed, moved(text)), f"\n{printed}")
                printed = None
    finally:
        shell.end()
        print(f"{away} commands need a cluster and were not run")


def manifests():
    """What the page says of its YAML."""
    source, sensor = [document for language, text in blocks() if language == "yaml"
                      for document in yaml.safe_load_all(text)]
    values = yaml.safe_load(VALUES.read_text())
    routing = values["internal-router"]["routing"]
    name, namespace = (source["metadata"][key] for key in ("name", "namespace"))
    (event, github), = source["spec"]["github"].items()
    hook = github["webhook"]
    port, = source["spec"]["service"]["ports"]
    check("the chart's example allows the event source",
          routing["policy"]["webhooks"]["allow"] == [f"{namespace}/{name}"])
    check("the payload URL leads to the endpoint",
          f"https://acme-prod.tunnels.example.com{hook['endpoint']}`" in PAGE.read_text()
          and hook["endpoint"].startswith(f"/webhooks/{namespace}/{name}/"))
    check("the service's port is that of the route, and leads to the event source",
          port["port"] == 80 and str(port["targetPort"]) == hook["port"])
    dependency, = sensor["spec"]["dependencies"]
    check("the sensor depends on the event", (dependency["eventSourceName"], dependency["eventName"]) == (name, event))
    trigger = sensor["spec"]["triggers"][0]["template"]["k8s"]
    check("the trigger's parameter is of that dependency",
          {parameter["src"]["dependencyName"] for parameter in trigger["parameters"]} == {dependency["name"]})
    client = yaml.safe_load(re.search(r"client\.yaml <<'YAML'\n(.*?)^YAML$", PAGE.read_text(), re.M | re.S)[1])
    route, chart = (next(route for route in routes if "verify" in route)
                    for routes in (client["router"]["routes"], routing["routes"]))
    for one in (route, chart):
        del one["verify"]["secretFile"]
    check("the chart's example has the route of the page", route == chart, f"{route} {chart}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the folder of logs")
    arguments = parser.parse_args()
    subprocess.run([str(ROOT / "culvert"), "--version"], check=True, stdout=subprocess.DEVNULL)  # builds, with a network
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-tutorial-"))
    work = folder / "tutorial"
    work.mkdir()
    manifests()
    run(work)
    if arguments.keep or FAILED:
        print(f"logs: {work}")
    else:
        shutil.rmtree(folder)
    print(f"{len(DONE)} commands and answers, {len(FAILED)} wrong")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
