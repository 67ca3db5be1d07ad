#!/usr/bin/env python3
"""Triggers of control planes, on SQLite and on PostgreSQL, while processes are killed.

1. On both engines, by curl: each call of docs/triggers.md; a signed push answers ids, an altered one 403; without a pipeline
   204; a tag that a filter refuses 204, with the reason in explain; the same delivery twice is one run.
2. 2,000 events of four kinds, sent to two control planes on one PostgreSQL database while each is killed five times: every
   acknowledged event has exactly one run.
3. A registry (Debian's docker-registry) tells of a push of skopeo; of 200 pushes while the control plane is away for a
   minute none is lost and none comes twice.
4. The clock: 200 ticks, while the process that takes them is killed 20 times: each is taken once.
5. 50 secrets are in no log and in neither database.

Prints the counts; exits 1 if one of them is wrong. Needs root, python3, curl, Debian's postgresql-15, docker-registry and
skopeo, and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import concurrent.futures
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from parts import FAILED, check, free_port
from postgres import Caller, Plane, Postgres

SECRETS = []


def secret():
    made = "planted-" + os.urandom(16).hex()
    SECRETS.append(made)
    return made


def quoted(text):
    return urllib.parse.quote(text, safe="")


def curl(plane, method, path, body=None, key=None, fields=()):
    """Status and JSON of the answer to curl."""
    command = ["curl", "-sS", "-X", method, "-w", "\n%{http_code}", f"http://127.0.0.1:{plane.port}{path}"]
    fields = [*fields, "content-type: application/json"]
    if key:
        fields.append(f"authorization: {key}")
    for field in fields:
        command += ["-H", field]
    if body is not None:
        command += ["--data-binary", "@-"]
    text = subprocess.run(command, input=body, stdout=subprocess.PIPE, text=True, check=True).stdout
    content, _, status = text.rpartition("\n")
    return int(status), json.loads(content) if content[:1] in "{[" and content else None


def signature(of, body):
    return "sha256=" + hmac.new(of.encode(), body.encode(), hashlib.sha256).hexdigest()


class Account:
    """The operator's account at a control plane, with events that have planted secrets."""

    def __init__(self, plane, key):
        self.plane = plane
        self.key = key
        self.id = curl(plane, "GET", "/api/me", key=key)[1]["account"]

    def event(self, kind, values, of=None):
        of = of or secret()
        type_, name = kind.split("/")
        status, answer = curl(self.plane, "POST", "/api/hermes/events",
                              json.dumps({"type": type_, "kind": name, "secret": of, "values": values}), self.key)
        assert status == 201, answer
        return answer["uri"], of

    def link(self, uri, pipeline, filters=None):
        status, answer = curl(self.plane, "POST", f"/api/hermes/triggers/{quoted(uri)}/{quoted(pipeline)}",
                              json.dumps({"filters": filters or {}}), self.key)
        assert status == 200, answer


def push(ref, number=1):
    return json.dumps({"ref": ref, "after": f"{number:040x}", "repository": {"full_name": "acme/web"},
                       "head_commit": {"message": f"number {number}"}})


def calls(engine, plane, key):
    account = Account(plane, key)
    wrong = []

    def expect(name, status, *arguments, **named):
        got = curl(plane, *arguments, **named)
        if got[0] != status:
            wrong.append((name, got))
        return got[1]

    hub, hub_secret = account.event("registry/dockerhub", {"namespace": "acme", "name": "web"})
    git, git_secret = account.event("git/github", {"owner": "acme", "repo": "web"})
    hook = f"/api/hermes/git/github?account={account.id}"
    body = push("refs/heads/main")
    signed = ("x-github-event: push", "x-github-delivery: one", f"x-hub-signature-256: {signature(git_secret, body)}")
    expect("no pipeline", 204, "POST", hook, body, fields=(*signed[:1], "x-github-delivery: zero", signed[2]))
    account.link(git, "shop/build", {"branch": "^main$"})
    account.link(hub, "shop/deploy", {"tag": "^v"})
    first = expect("signed push", 200, "POST", hook, body, fields=signed)
    again = expect("delivered twice", 200, "POST", hook, body, fields=signed)
    if first != again or len(first or []) != 1:
        wrong.append(("the same run", first, again))
    expect("altered push", 403, "POST", hook, body + " ", fields=signed)
    latest = json.dumps({"push_data": {"tag": "latest", "pushed_at": 1.5e9}, "repository": {"namespace": "acme",
                                                                                           "name": "web"}})
    expect("refused tag", 204, "POST", f"/nomios/dockerhub?account={account.id}&secret={quoted(hub_secret)}", latest)
    why = expect("explain", 200, "POST", "/api/hermes/explain", json.dumps({"event": hub, "original": latest}), key)
    if why["items"][0]["why"] != 'filter tag: "latest" does not match ^v':
        wrong.append(("reason", why))
    for field in (hub_secret, hmac.new(hub_secret.encode(), b"body", hashlib.sha512).hexdigest()):
        expect("run", 200, "POST", f"/api/hermes/run/{quoted(hub)}",
               json.dumps({"secret": field, "original": "body", "variables": {"TAG": "v1"}}))
    expect("wrong secret", 403, "POST", f"/api/hermes/run/{quoted(hub)}", '{"secret": "guess"}')
    expect("absent event", 403, "POST", f"/api/hermes/run/{quoted(hub + '0')}", '{"secret": "guess"}')
    for path in ("/types", "/types/cron/codefresh", "/events", f"/events/{quoted(hub)}", "/triggers",
                 f"/triggers/event/{quoted(hub)}", "/triggers/pipeline/shop%2Fdeploy", "/runs", "/refusals"):
        expect(path, 200, "GET", "/api/hermes" + path, key=key)
        expect("without a key: " + path, 401, "GET", "/api/hermes" + path)
    runs = expect("runs", 200, "GET", "/api/hermes/runs", key=key)["items"]
    expect("replay", 200, "POST", f"/api/hermes/runs/{runs[0]['id']}/replay", key=key)
    expect("delete a linked event", 409, "DELETE", f"/api/hermes/events/{quoted(hub)}", key=key)
    expect("unlink", 204, "DELETE", f"/api/hermes/triggers/{quoted(hub)}/shop%2Fdeploy", key=key)
    expect("delete", 204, "DELETE", f"/api/hermes/events/{quoted(hub)}/context", key=key)
    check(f"calls on {engine}", not wrong, str(wrong[:3]))


def patiently(planes, number, path, body, fields):
    """Sends a webhook until one of the control planes acknowledges it. The status."""
    deadline = time.monotonic() + 120
    attempt = number
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", planes[attempt % 2].port, timeout=20)
        attempt += 1
        try:
            connection.request("POST", path, body, {"content-type": "application/json", **fields})
            status = connection.getresponse().status
            if status < 500 and status != 429:
                return status
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.2)
    return 0


def killed(planes, key, server):
    account = Account(planes[0], key)
    hub, hub_secret = account.event("registry/dockerhub", {"namespace": "acme", "name": "killed"})
    own, own_secret = account.event("registry/docker", {"namespace": "team", "name": "killed"})
    git, git_secret = account.event("git/gitea", {"owner": "acme", "repo": "killed"})
    run, run_secret = account.event("registry/quay", {"namespace": "acme", "name": "killed"})
    for uri in (hub, own, git, run):
        account.link(uri, "shop/killed")

    def send(number):
        fields = {}
        if number % 4 == 0:
            path = f"/nomios/dockerhub?account={account.id}&secret={quoted(hub_secret)}"
            body = json.dumps({"push_data": {"tag": f"v{number}"}, "repository": {"namespace": "acme",
                                                                                 "name": "killed"}})
            fields["culvert-webhook-id"] = f"n{number}"
        elif number % 4 == 1:
            path = f"/nomios/docker?account={account.id}"
            fields["authorization"] = f"Bearer {own_secret}"
            body = json.dumps({"events": [{"id": f"n{number}", "action": "push",
                                           "target": {"repository": "team/killed", "tag": f"v{number}"}}]})
        elif number % 4 == 2:
            path = f"/api/hermes/git/gitea?account={account.id}"
            body = json.dumps({"ref": "refs/heads/main", "after": f"{number:040x}",
                               "repository": {"full_name": "acme/killed"}, "head_commit": {"message": "m"}})
            fields.update({"x-gitea-event": "push", "x-gitea-delivery": f"n{number}",
                           "x-gitea-signature": signature(git_secret, body)[7:]})
        else:
            path = f"/api/hermes/run/{quoted(run)}"
            body = json.dumps({"secret": run_secret, "original": "", "variables": {"number": str(number)}})
            fields["idempotency-key"] = f"n{number}"
        return patiently(planes, number, path, body, fields)

    stopped = threading.Event()
    deaths = [0, 0]

    def kill():
        for turn in range(10):
            if stopped.wait(3):
                return
            planes[turn % 2].part.process.kill()
            planes[turn % 2].part.process.wait()
            deaths[turn % 2] += 1
            planes[turn % 2].start().ready()

    killer = threading.Thread(target=kill)
    killer.start()
    statuses, number = [], 0
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        while number < 2_000 or killer.is_alive():
            waiting = [pool.submit(send, number + i) for i in range(100)]
            statuses += [each.result() for each in waiting]
            number += 100
    stopped.set()
    killer.join()
    rows = server.sql("culvert", "SELECT delivery, count(*) FROM triggers_run WHERE pipeline = 'shop/killed'"
                                 " GROUP BY delivery").splitlines()
    counts = {row.split("|")[0].split(" ")[0]: int(row.split("|")[1]) for row in rows}
    lost = [i for i, status in enumerate(statuses) if status == 200 and f"n{i}" not in counts]
    twice = [name for name, count in counts.items() if count != 1]
    check(f"{number} events while each of two is killed {deaths} times",
          statuses.count(200) == number and not lost and not twice and len(rows) == number,
          f"{statuses.count(200)} acknowledged, {len(lost)} lost, {len(twice)} twice, {len(rows)} runs")
    print(f"     {statuses.count(200)} acknowledged, {len(lost)} lost, {len(twice)} twice", flush=True)


class Registry:
    """Debian's docker-registry, which tells a control plane of its pushes."""

    def __init__(self, folder, plane, account, of):
        self.folder = folder
        self.port = free_port()
        config = folder / "registry.yml"
        config.write_text(f"""\
version: 0.1
storage: {{ filesystem: {{ rootdirectory: {folder / 'registry'} }} }}
http: {{ addr: "127.0.0.1:{self.port}" }}
notifications:
  endpoints:
    - name: culvert
      url: http://127.0.0.1:{plane.port}/nomios/docker?account={account}
      headers: {{ Authorization: ["Bearer {of}"] }}
      timeout: 5s
      threshold: 3
      backoff: 1s
""")
        # Its own log names the fields that it sends, so it is not looked through.
        self.process = subprocess.Popen(["docker-registry", "serve", str(config)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self.image = folder / "image"
        self.oci()

    def oci(self):
        """An image without layers, as skopeo copies it."""
        blobs = self.image / "blobs" / "sha256"
        blobs.mkdir(parents=True)

        def blob(content):
            digest = hashlib.sha256(content).hexdigest()
            (blobs / digest).write_bytes(content)
            return {"digest": "sha256:" + digest, "size": len(content)}
        kind = "application/vnd.oci.image."
        config = blob(json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers",
                                                                                     "diff_ids": []}}).encode())
        manifest = blob(json.dumps({"schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "layers": [],
                                    "config": {"mediaType": kind + "config.v1+json", **config}}).encode())
        (self.image / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        (self.image / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [
            {"mediaType": kind + "manifest.v1+json", **manifest}]}))

    def push(self, name):
        subprocess.run(["skopeo", "copy", "-q", "--dest-tls-verify=false", f"oci:{self.image}",
                        f"docker://127.0.0.1:{self.port}/{name}"], check=True)

    def end(self):
        self.process.terminate()
        self.process.wait(15)


def told(folder, plane, key, server):
    account = Account(plane, key)
    uri, of = account.event("registry/docker", {"namespace": "*", "name": "*"})
    account.link(uri, "shop/pushed")

    def runs():
        rows = server.sql("culvert", "SELECT variables FROM triggers_run WHERE pipeline = 'shop/pushed'").splitlines()
        return [json.loads(row)["EVENT_TAG"] for row in rows]

    def awaited(count, seconds):
        deadline = time.monotonic() + seconds
        while len(set(runs())) < count and time.monotonic() < deadline:
            time.sleep(0.5)
        return runs()
    registry = Registry(folder, plane, account.id, of)
    try:
        time.sleep(1)
        registry.push("team/web:v0")
        check("skopeo copy starts a run", awaited(1, 60) == ["v0"], str(runs()))
        plane.part.process.kill()
        plane.part.process.wait()
        began = time.monotonic()
        for i in range(200):
            registry.push(f"team/web:v{i + 1}")
        time.sleep(max(0.0, began + 60 - time.monotonic()))
        plane.start().ready()
        tags = awaited(201, 240)
        check("200 pushes while the control plane is away",
              len(tags) == 201 and len(set(tags)) == 201, f"{len(set(tags))} of 201, {len(tags)} runs")
        print(f"     {len(set(tags))} of 201 pushes, {len(tags)} runs", flush=True)
    finally:
        registry.end()


def clock(planes, key, server):
    account = Account(planes[0], key)
    status, made = curl(planes[0], "POST", "/api/hermes/events", json.dumps(
        {"type": "cron", "kind": "codefresh", "values": {"expression": "@every 8000h", "message": "script"}}), key)
    assert status == 201, made
    account.link(made["uri"], "shop/clock")

    def taken():
        return int(server.sql("culvert", "SELECT count(*) FROM triggers_run WHERE pipeline = 'shop/clock'"))
    wrong, deaths = [], 0
    for i in range(200):
        if i % 10 == 5:
            holder = server.sql("culvert", "SELECT holder FROM platform_turns WHERE name = 'triggers clock'")
            pid = int(holder.rsplit(":", 1)[1])
            dead = next(plane for plane in planes if plane.part.process.pid == pid)
        server.sql("culvert", "UPDATE triggers_clock SET due = (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
                              f" WHERE event = '{made['uri']}'")
        if i % 10 == 5:
            os.kill(pid, signal.SIGKILL)
            dead.part.process.wait()
            deaths += 1
            dead.start()
        deadline = time.monotonic() + 60
        while taken() < i + 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        if taken() != i + 1:
            wrong.append((i, taken()))
            break
    for plane in planes:
        plane.ready()
    time.sleep(3)
    check(f"200 ticks, their process killed {deaths} times", not wrong and taken() == 200 and deaths == 20,
          f"{taken()} runs, wrong {wrong}")
    print(f"     {taken()} runs of 200 ticks, {deaths} deaths", flush=True)


def planted(folder, planes, file, key, server):
    account = Account(planes[0], key)
    while len(SECRETS) < 50:
        _, of = account.event("registry/quay", {"namespace": "acme", "name": f"planted{len(SECRETS)}"})
        for wrong in (of + "x", of):
            curl(planes[0], "POST", f"/nomios/quay?account={account.id}&secret={quoted(wrong)}", json.dumps(
                {"namespace": "acme", "name": f"planted{len(SECRETS) - 1}", "updated_tags": ["a"]}))
    dump = folder / "dump.sql"
    dump.write_text(server.run("pg_dump", "-h", "127.0.0.1", "-p", server.port, "-U", "culvert", "culvert", capture=True))
    server.sql("culvert", "CHECKPOINT")
    files = [dump, server.log]
    for plane in (*planes, file):
        files += [each for each in plane.folder.rglob("*") if each.is_file()]
    files += [each for each in server.data.rglob("*") if each.is_file()]
    found = {}
    for each in files:
        content = each.read_bytes()
        hits = sum(content.count(of.encode()) for of in SECRETS)
        if hits:
            found[str(each)] = hits
    check(f"{len(SECRETS)} planted secrets in {len(files)} files of logs and databases", not found, str(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the folder of logs")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-triggers-"))
    shutil.chown(folder, "postgres")
    folder.chmod(0o755)
    server = Postgres(folder, "primary")
    planes = []
    try:
        file = Plane(folder, "file", None)
        planes.append(file)
        file.start().ready()
        calls("SQLite", file, file.first_key())
        server.create()
        url = f"postgresql://127.0.0.1:{server.port}/culvert"
        for name in ("one", "two"):
            planes.append(Plane(folder, name, url).start())
        for plane in planes[1:]:
            plane.ready()
        key = next(filter(None, (plane.first_key() for plane in planes[1:])))
        calls("PostgreSQL", planes[1], key)
        killed(planes[1:], key, server)
        told(folder, planes[1], key, server)
        clock(planes[1:], key, server)
        planted(folder, planes[1:], file, key, server)
    finally:
        for plane in planes:
            if plane.part:
                plane.part.end()
        server.end()
        if not arguments.keep and not FAILED:
            shutil.rmtree(folder)
        else:
            print(f"logs: {folder}")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
