#!/usr/bin/env python3
"""Runs the commands of docs/control-plane.md on SQLite and on PostgreSQL, and compares what they answer.

Every line of a fenced block that calls curl or culvert is run by bash as it stands in the page, with the ids of the
answers in place of USER-ID; so is every culvert command with options that the text names. Then each GET of the table
of calls is sent with an operator's key and without one. A command that this script has no expectation of is a failure.

Prints the counts; exits 1 if an answer is wrong. Runs in a network namespace of its own, because the page names the
port. Needs root, python3, bash, curl, unshare, Debian's postgresql-15, and ./culvert of this repository.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from parts import DONE, FAILED, Part, ROOT, check
from postgres import Postgres

PAGE = ROOT / "docs" / "control-plane.md"
INSIDE = "CULVERT_DOCS_NAMESPACE"


def fenced():
    """The lines of blocks without a language, in the order of the page."""
    text = PAGE.read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [line for language, block in blocks if not language for line in block.splitlines() if line.strip()]


def named():
    """The commands with options that the text names, without those of fenced blocks."""
    text = re.sub(r"^```.*?^```$", "", PAGE.read_text(), flags=re.M | re.S)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]
    commands = [span for span in spans if span.startswith("culvert control-plane") and "--" in span]
    return list(dict.fromkeys(commands))


def gets():
    """The GET calls of the table, and whether anyone may make them. Those with {} or a query need more than a key."""
    rows = re.findall(r"^\| (`(?:GET|POST|PUT|DELETE).*?) \| (.*?) \| ", PAGE.read_text(), re.M)
    found = []
    for calls, who in rows:
        methods = re.findall(r"`(?:(GET|POST|PUT|DELETE)(?: (/[^ `?]*))?)", calls)
        paths = [path for _, path in methods if path]
        for i, (method, path) in enumerate(methods):
            of = path or next((later for _, later in methods[i:] if later), None)
            if method == "GET" and of and "{" not in of:
                found.append((of, who))
        if "anyone" in who:
            found += [(path, who) for path in re.findall(r", `GET (/[^`]*)`", calls) if (path, who) not in found]
        assert paths, calls
    return list(dict.fromkeys(found))


class Page:
    """The commands of the page, run in a folder that holds control-plane.yaml."""

    def __init__(self, folder, store):
        self.folder = folder
        self.settings = []
        self.part = None
        self.config = folder / "control-plane.yaml"
        self.config.write_text(f"listen: 127.0.0.1:3030\ndataDir: .\n{store}")

    def start(self):
        self.part = Part("control-plane", self.folder, "control-plane", "--config", str(self.config))
        self.part.wait('"event":"listening"')

    def stop(self):
        if self.part:
            self.part.end()
            self.part = None

    def run(self, line):
        """Exit code, output and errors. curl adds the status in a line of its own."""
        script = "\n".join(["curl() { command curl -sS -w '\\n%{http_code}' \"$@\"; }", *self.settings, line])
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=dict(os.environ, PATH=f"{ROOT}:{os.environ['PATH']}"))
        return done.returncode, done.stdout, done.stderr

    def curl(self, line):
        code, out, errors = self.run(line)
        body, _, status = out.rpartition("\n")
        if code or not status.isdigit():
            return 0, errors or out
        return int(status), json.loads(body) if body[:1] in ("{", "[") else body


def curls(page, line, ids):
    """Whether a curl of the page answered what the page says, and the answer."""
    status, answer = page.curl(line.replace("USER-ID", ids.get("user", "")))
    if not isinstance(answer, dict):
        return False, f"{status} {answer}"
    key = r"[0-9a-f]{24}\.[\w-]{43}"
    if "/api/users" in line:
        ids["user"] = answer.get("id", "")
        ok = status == 201 and answer.get("email") == "jo@example.com" and not answer.get("admin")
    elif "/api/keys" in line and '"user"' in line:
        ids["key"] = answer.get("key", "")
        ok = status == 201 and re.fullmatch(key, ids["key"]) and answer.get("user") == ids["user"]
    elif "/api/keys" in line and '"runtime"' in line:
        ok = status == 201 and re.fullmatch(key, answer.get("key", "")) and answer.get("runtime") == "prod"
    elif "/api/abac" in line:
        asked = json.dumps({"entity": "workflows", "action": "TERMINATE", "attributes": {"namespace": "argo"}})
        _, may = page.curl(f"curl -H 'Authorization: {ids['key']}' $CP/api/abac/decide -d '{asked}'")
        _, other = page.curl(f"curl -H 'Authorization: {ids['key']}' $CP/api/abac/decide -d "
                             f"'{asked.replace('argo', 'other')}'")
        ok = status == 201 and may.get("isValid") is True and other.get("isValid") is False
    else:
        return False, f"no expectation of this command: {status} {answer}"
    return bool(ok), f"{status} {answer}"


def begin(page, name, line):
    page.start()
    key = page.folder / "admin.key"
    check(f"{name}: {line}", key.exists() and key.stat().st_mode & 0o777 == 0o600, "admin.key is not there, or not 0600")


def recovered(page, name, line, is_alone):
    if is_alone:
        page.stop()
    code, out, errors = page.run(line)
    key = page.folder / "operator.key"
    ok = code == 0 and key.exists() and key.stat().st_mode & 0o777 == 0o600
    audit = (page.folder / "audit-changes.log").read_text()
    if is_alone:
        page.start()
    status, me = page.curl("curl -H \"Authorization: $(cat operator.key)\" http://127.0.0.1:3030/api/me")
    check(f"{name}: {line}", ok and "RECOVER" in audit and status == 200, f"{code} {out} {errors} {status} {me}")


def commands(page, name, url):
    """The commands that the text names."""
    is_alone = url is not None
    for line in sorted(named(), key=lambda each: "migrate" in each):  # which ends the file's control plane
        if "rotate-token-key" in line:
            before = page.curl('curl -H "$K" $CP/api/token-keys')[1].get("items", [])
            code, out, errors = page.run(line)
            after = page.curl('curl -H "$K" $CP/api/token-keys')[1].get("items", [])
            check(f"{name}: {line}", code == 0 and len(after) == len(before) + 1, f"{code} {out} {errors}")
        elif "backup" in line:
            if is_alone:
                code, out, errors = page.run(line)
                file = page.folder / line.split()[-1]
                check(f"{name}: {line}", code == 0 and file.exists(), f"{code} {out} {errors}")
        elif "migrate" in line:
            if is_alone:
                page.stop()
                page.config.write_text(page.config.read_text() + f'store: {{ url: "{url}", user: culvert, tls: off }}\n')
                said = [page.run(line) for _ in range(2)]
                check(f"{name}: {line}", said[0][0] == 0 and said[1][0] == 0
                      and "all was there already" in "".join(said[1][1:]), str(said))
        else:
            check(f"{name}: {line}", False, "no expectation of this command")


def page_on(name, folder, store, url):
    """Runs the page on one store. The URL of the database to migrate to, on SQLite alone."""
    folder.mkdir()
    page = Page(folder, store)
    ids = {}
    try:
        for line in fenced():
            if re.match(r"\w+=", line):
                page.settings.append(line)
                continue
            if line.startswith("curl"):
                check(f"{name}: {line}", *curls(page, line, ids))
            elif "recover" in line:
                recovered(page, name, line, url is not None)
            elif line == "culvert control-plane --config control-plane.yaml":
                begin(page, name, line)
            else:
                check(f"{name}: {line}", False, "no expectation of this command")
        for path, who in gets():
            status, answer = page.curl(f'curl -H "$K" $CP{path}')
            other, _ = page.curl(f"curl $CP{path}")
            expected = (403, 401) if who == "runtimes" else (200, 200 if who == "anyone" else 401)
            check(f"{name}: GET {path}", (status, other) == expected, f"{status}, without a key {other}: {answer}")
        commands(page, name, url)
    finally:
        page.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the folder of logs")
    arguments = parser.parse_args()
    subprocess.run([str(ROOT / "culvert"), "--version"], check=True, stdout=subprocess.DEVNULL)  # builds, with a network
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "yes"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-docs-"))
    shutil.chown(folder, "postgres")
    folder.chmod(0o755)
    server = Postgres(folder, "primary")
    try:
        server.create()
        server.sql("postgres", "CREATE DATABASE moved")
        url = f"postgresql://127.0.0.1:{server.port}/"
        store = f'store: {{ kind: postgres, url: "{url}culvert", user: culvert, tls: off }}\n'
        page_on("SQLite", folder / "sqlite", "", url + "moved")
        page_on("PostgreSQL", folder / "postgres", store, None)
    finally:
        server.end()
        if not arguments.keep and not FAILED:
            shutil.rmtree(folder)
        else:
            print(f"logs: {folder}")
    print(f"{len(DONE)} commands and calls, {len(FAILED)} wrong")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
