#!/usr/bin/env python3
"""Two control planes on one PostgreSQL database, and what happens to servers of databases.

1. A change at one is seen at the other: 200 of 200 within 1 s.
2. One is killed under 200 calls a second: a client that tries once more at the other sees no failure.
3. PostgreSQL is restarted under load: every answer is right or a 503, and it serves within 5 s of the return.
4. The primary is killed in the middle of 1,000 creations, and its replica (synchronous_commit=remote_apply) is promoted:
   each creation that was answered 201 is there, each unknown one once or not at all; sent again, all are there once.
5. 100 API keys are nowhere in a dump, in the files of the servers, nor in SQLite's file and its backup; what was in the
   file is in the database after "migrate --to postgres".

Prints the counts; exits 1 if one of them is wrong. Needs root, python3, Debian's postgresql-15, and ./culvert of this
repository. Everything stays on 127.0.0.1.
"""
import argparse
import base64
import concurrent.futures
import contextlib
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

from parts import Part, culvert, free_port

BIN = pathlib.Path("/usr/lib/postgresql/15/bin")
FAILED = []


def check(name, ok, detail):
    print(f"{'ok  ' if ok else 'FAIL'} {name}: {detail}", flush=True)
    if not ok:
        FAILED.append(name)


class Postgres:
    """A server in a folder of the user postgres."""

    def __init__(self, folder, name):
        self.data = folder / name
        self.log = folder / (name + ".log")
        self.port = free_port()

    def run(self, program, *arguments, capture=False):
        return subprocess.run(["runuser", "-u", "postgres", "--", str(BIN / program), *map(str, arguments)], check=True,
                              stdout=subprocess.PIPE if capture else subprocess.DEVNULL, stderr=subprocess.PIPE,
                              cwd="/", text=True).stdout

    def create(self):
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "culvert", "--no-sync")
        self.configure("listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", f"port = {self.port}")
        self.start()
        self.sql("postgres", "CREATE DATABASE culvert")

    def configure(self, *lines):
        with open(self.data / "postgresql.conf", "a") as file:
            file.write("\n".join(lines) + "\n")

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-l", self.log, "-w", "start")

    def restart(self):
        self.run("pg_ctl", "-D", self.data, "-l", self.log, "-m", "fast", "-w", "restart")

    def promote(self):
        self.run("pg_ctl", "-D", self.data, "-w", "promote")

    def sql(self, database, statement):
        return self.run("psql", "-h", "127.0.0.1", "-p", self.port, "-U", "culvert", "-d", database, "-Atc", statement,
                        capture=True).strip()

    def replica(self, folder):
        """A physical replica, which each COMMIT waits for."""
        other = Postgres(folder, "replica")
        self.run("pg_basebackup", "-h", "127.0.0.1", "-p", self.port, "-U", "culvert", "-D", other.data, "-R", "-X",
                 "stream", "-c", "fast", "--no-sync")
        other.configure(f"port = {other.port}")
        other.start()
        self.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql("postgres", "ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
        self.sql("postgres", "SELECT pg_reload_conf()")
        while self.sql("postgres", "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1":
            time.sleep(0.1)
        return other

    def kill(self):
        """As if the machine lost its power: the postmaster and all its children at once."""
        master = int((self.data / "postmaster.pid").read_text().split()[0])
        children = subprocess.run(["pgrep", "-P", str(master)], stdout=subprocess.PIPE, text=True).stdout.split()
        for pid in [master, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")


class Plane:
    """A control plane in a folder of its own."""

    def __init__(self, folder, name, url):
        self.folder = folder / name
        self.folder.mkdir()
        self.port = free_port()
        store = f"store: {{ kind: postgres, url: \"{url}\", user: culvert, tls: off }}\n" if url else ""
        self.config = self.folder / "control-plane.yaml"
        self.config.write_text(f"listen: 127.0.0.1:{self.port}\ndataDir: data\n{store}"
                               f"tokenKeys: {{ file: {folder / 'token.key'} }}\n")
        self.part = None

    def start(self):
        self.part = Part("control-plane", self.folder, "control-plane", "--config", str(self.config))
        return self

    def ready(self):
        self.part.wait('"event":"listening"')
        return self

    def first_key(self):
        file = self.folder / "data" / "admin.key"
        return file.read_text().strip() if file.exists() else None


class Caller:
    """Calls control planes with a key, one request after another."""

    def __init__(self, key, seconds=40):
        self.key = key
        self.seconds = seconds
        self.connections = {}

    def call(self, plane, method, path, body=None, name=None):
        """Status and JSON of the answer; raises OSError if there is none."""
        connection = self.connections.pop(plane.port, None) or http.client.HTTPConnection("127.0.0.1", plane.port,
                                                                                         timeout=self.seconds)
        headers = {"Authorization": self.key}
        if name:
            headers["Idempotency-Key"] = name
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        except http.client.HTTPException as e:
            connection.close()
            raise OSError(repr(e)) from e
        except OSError:
            connection.close()
            raise
        if not answer.will_close:
            self.connections[plane.port] = connection
        return answer.status, json.loads(text) if text[:1] in (b"{", b"[") else {}


def user(number):
    return {"name": "U", "email": f"u{number}@example.test"}


def all_users(caller, plane):
    return [each["email"] for each in caller.call(plane, "GET", "/api/users")[1]["items"]]


def seen_at_the_other(planes, key):
    caller = Caller(key)
    jo = caller.call(planes[0], "POST", "/api/users", {"name": "Jo", "email": "jo@example.test"})[1]["id"]
    ask = {"user": jo, "entity": "workflows", "action": "TERMINATE"}
    rule, late, slowest = None, 0, 0.0
    for i in range(200):
        if rule is None:
            rule = caller.call(planes[i % 2], "POST", "/api/abac",
                               {"entity": "workflows", "actions": ["TERMINATE"], "users": [jo]})[1]["id"]
        else:
            caller.call(planes[i % 2], "DELETE", f"/api/abac/{rule}")
            rule = None
        began = time.monotonic()
        while caller.call(planes[(i + 1) % 2], "POST", "/api/abac/decide", ask)[1]["isValid"] != (rule is not None):
            if time.monotonic() - began > 10:
                break
        took = time.monotonic() - began
        slowest = max(slowest, took)
        late += took > 1
    check("a change at one is seen at the other", late == 0, f"{200 - late} of 200 within 1 s, slowest {slowest:.2f} s")


def rate(calls_a_second, seconds, call):
    """Runs call(i) at a steady rate on many threads; the results that are not None."""
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        began = time.monotonic()
        waiting = []
        for i in range(int(calls_a_second * seconds)):
            time.sleep(max(0.0, began + i / calls_a_second - time.monotonic()))
            waiting.append(pool.submit(call, i))
        return [each.result() for each in waiting if each.result() is not None]


def one_killed(planes, key):
    local = threading.local()

    def call(i):
        caller = local.__dict__.setdefault("caller", Caller(key, 10))
        method, path, body = ("POST", "/api/users", user(f"k{i}")) if i % 4 == 0 else ("GET", "/api/me", None)
        for attempt in range(2):
            try:
                status, _ = caller.call(planes[(i + attempt) % 2], method, path, body, f"k{i}" if body else None)
                if status < 500:
                    return None if status in (200, 201) else (i, status)
            except OSError:
                pass
        return i, "no answer"

    threading.Timer(3, planes[1].part.process.kill).start()
    wrong = rate(200, 8, call)
    users = all_users(Caller(key), planes[0])
    once = all(users.count(f"uk{i}@example.test") == 1 for i in range(0, 1600, 4))
    check("one of two is killed at 200 calls a second", not wrong and once,
          f"{len(wrong)} of 1600 failed after one more try {wrong[:3]}, each of 400 users once: {once}")
    planes[1].start().ready()


def restarted(planes, key, server):
    local = threading.local()
    times, back = [], []

    def call(i):
        caller = local.__dict__.setdefault("caller", Caller(key, 30))
        method, path, body = ("POST", "/api/users", user(f"r{i}")) if i % 4 == 0 else ("GET", "/api/me", None)
        try:
            status, answer = caller.call(planes[i % 2], method, path, body, f"r{i}" if body else None)
        except OSError as e:
            return i, repr(e)
        if status in (200, 201):
            times.append(time.monotonic())
            return None
        return None if status == 503 and "store-unavailable" in answer.get("type", "") else (i, status, answer)

    def restart():
        server.restart()
        back.append(time.monotonic())

    timer = threading.Timer(2, restart)
    timer.start()
    wrong = rate(200, 10, call)
    timer.join()
    again = min((at for at in times if at > back[0]), default=back[0] + 99) - back[0]
    check("PostgreSQL is restarted under load", not wrong and again < 5,
          f"{len(times)} of 2000 served, {len(wrong)} wrong {wrong[:2]}, served {again:.2f} s after its return")


def failed_over(folder, server):
    replica = server.replica(folder)
    url = f"postgresql://127.0.0.1:{server.port},127.0.0.1:{replica.port}/culvert"
    planes = [Plane(folder, f"ha{i}", url).start() for i in range(2)]
    try:
        for plane in planes:
            plane.ready()
        key = next(filter(None, (each.first_key() for each in planes)), None) or KEY[0]
        local = threading.local()
        made, unknown, refused, other = [], [], [], []
        done = threading.Semaphore(0)

        def create(i):
            caller = local.__dict__.setdefault("caller", Caller(key, 60))
            try:
                status, answer = caller.call(planes[i % 2], "POST", "/api/users", user(f"f{i}"), f"f{i}")
            except OSError:
                status, answer = 0, {}
            if status == 201:
                made.append(i)
            elif status == 503 and "may have happened" in answer.get("detail", ""):
                unknown.append(i)
            elif status == 503:
                refused.append(i)
            else:
                other.append((i, status, answer))
            done.release()

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            waiting = [pool.submit(create, i) for i in range(1000)]
            for _ in range(400):
                done.acquire()
            server.kill()
            replica.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = ''")
            replica.promote()
            promoted = time.monotonic()
            while True:
                try:
                    if Caller(key).call(planes[0], "GET", "/api/me")[0] == 200:
                        break
                except OSError:
                    pass
            print(f"     served {time.monotonic() - promoted:.1f} s after the promotion", flush=True)
            concurrent.futures.wait(waiting)
        users = all_users(Caller(key), planes[0])
        lost = [i for i in made if users.count(f"uf{i}@example.test") != 1]
        twice = [i for i in unknown if users.count(f"uf{i}@example.test") > 1]
        there = [i for i in refused if f"uf{i}@example.test" in users]
        check("the primary is killed and its replica promoted", not (lost or twice or there or other),
              f"{len(made)} created, {len(lost)} of them lost; {len(unknown)} unknown, {len(twice)} of them twice; "
              f"{len(refused)} refused, {len(there)} of them there; others {other[:2]}")
        caller = Caller(key)
        for i in [*unknown, *refused]:
            for _ in range(20):
                if caller.call(planes[i % 2], "POST", "/api/users", user(f"f{i}"), f"f{i}")[0] == 201:
                    break
                time.sleep(0.5)
        users = all_users(caller, planes[1])
        right = sum(users.count(f"uf{i}@example.test") == 1 for i in range(1000))
        check("sent again with the same Idempotency-Key", right == 1000, f"{right} of 1000 are there once")
    finally:
        for plane in planes:
            plane.part.end()
        replica.end()


def spellings(key):
    secret = key.split(".", 1)[1].encode()
    return [secret, base64.b64encode(secret).rstrip(b"=")[:-1], secret.hex().encode()]


def holds(folder_or_file, keys):
    files = [folder_or_file] if folder_or_file.is_file() else [f for f in folder_or_file.rglob("*") if f.is_file()]
    wanted = [spelling for key in keys for spelling in spellings(key)]
    return sum(content.count(each) for content in (f.read_bytes() for f in files) for each in wanted)


def planted(folder, server):
    plane = Plane(folder, "file", None)
    plane.start().ready()
    caller = Caller(plane.first_key())
    keys = [plane.first_key()]
    for i in range(100):
        keys.append(caller.call(plane, "POST", "/api/keys", {"runtime": f"r{i}"}, f"p{i}")[1]["key"])
    culvert("control-plane", "backup", "--config", plane.config, "--to", folder / "backup.db")
    plane.part.end()
    (plane.folder / "data" / "admin.key").unlink()
    found = holds(folder / "backup.db", keys) + holds(plane.folder / "data", keys)

    server.sql("postgres", "CREATE DATABASE moved")
    url = f"postgresql://127.0.0.1:{server.port}/moved"
    plane.config.write_text(plane.config.read_text() + f"store: {{ url: \"{url}\", user: culvert, tls: off }}\n")
    for _ in range(2):
        culvert("control-plane", "migrate", "--config", plane.config, "--to", "postgres")
    plane.config.write_text(plane.config.read_text().replace("store: {", "store: { kind: postgres,"))
    plane.start().ready()
    caller = Caller(keys[0])
    items = caller.call(plane, "GET", "/api/keys")[1]["items"]
    works = sum(Caller(key).call(plane, "GET", "/api/changes")[0] == 200 for key in keys[1:])
    plane.part.end()
    check("keys after migrate --to postgres", len(items) == 101 and works == 100,
          f"{len(items)} of 101 there, {works} of 100 serve")
    dump = folder / "dump.sql"
    dump.write_text(server.run("pg_dump", "-h", "127.0.0.1", "-p", server.port, "-U", "culvert", "moved", capture=True))
    server.sql("moved", "CHECKPOINT")
    found += holds(dump, keys) + holds(server.data, keys)
    check("100 planted keys", found == 0, f"{found} found in a dump, files, SQLite's file and its backup")


KEY = []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the folder of logs")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-postgres-"))
    shutil.chown(folder, "postgres")
    folder.chmod(0o755)
    server = Postgres(folder, "primary")
    planes = []
    try:
        server.create()
        url = f"postgresql://127.0.0.1:{server.port}/culvert"
        planes = [Plane(folder, f"plane{i}", url).start() for i in range(2)]
        for plane in planes:
            plane.ready()
        keys = [key for key in (plane.first_key() for plane in planes) if key]
        check("two start at once with an empty database", len(keys) == 1, f"{len(keys)} first key")
        KEY.append(keys[0])
        seen_at_the_other(planes, keys[0])
        one_killed(planes, keys[0])
        restarted(planes, keys[0], server)
        planted(folder, server)
        for plane in planes:
            plane.part.end()
        failed_over(folder, server)
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
