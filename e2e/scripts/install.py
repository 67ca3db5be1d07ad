#!/usr/bin/env python3
"""Installs Culvert on a bare Debian without Java, from the archive and from the package, and runs every command of
docs/install.md there.

The root file systems are made by mmdebstrap; everything runs in a network namespace of its own, which has no way out.
What systemctl is asked for is done by units.py, which says what of a unit it applies. The newer package is this one with
another version. Prints one line for each fact; exits 1 if one is not as documented.

Needs: root, mmdebstrap, dpkg-deb, python3, python3-seccomp; the files that `mvn package` left in deploy/dist/target.
"""
import argparse
import fnmatch
import http.client
import http.server
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

from units import Unit

TREE = pathlib.Path(__file__).resolve().parents[2]
DIST = TREE / "deploy/dist/target"
PARTS = ("server", "client", "router", "app-proxy", "control-plane")
WANTS = "etc/systemd/system/multi-user.target.wants"
SERVER, CLIENT, FIRST, SECOND = "culvert@server", "culvert@client", "culvert-server@a", "culvert-server@b"
DOMAIN = "tunnels.example.com"
BLOCK = 600  # seconds; a block of the document
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}

failed = []


def fact(name, good, told=""):
    print(("ok    " if good else "FAIL  ") + name + (f": {told}" if told else ""), flush=True)
    if not good:
        failed.append(name)
    return good


class Root:
    """A root file system, with stand-ins for systemctl and journalctl."""

    def __init__(self, folder, tar, name):
        self.folder = folder / name
        self.folder.mkdir()
        subprocess.run(["tar", "xf", tar, "-C", self.folder], check=True)
        for command in (["mount", "-t", "proc", "proc", "proc"], ["mount", "--rbind", "/dev", "dev"]):
            subprocess.run(command, cwd=self.folder, check=True)
        (self.folder / "run/systemd/system").mkdir(parents=True)
        with open(self.folder / "etc/hosts", "w", encoding="ascii") as hosts:
            hosts.write(f"127.0.0.1 localhost {DOMAIN}\n")
        shim = self.folder / "usr/bin/systemctl"
        shim.write_text("#!/bin/sh\necho \"$@\" >/run/asked\nread -r code text </run/answered\n"
                        "[ -z \"$text\" ] || echo \"$text\"\nexit \"$code\"\n")
        shim.chmod(0o755)
        journal = self.folder / "usr/bin/journalctl"
        journal.write_text("#!/bin/sh\ncat \"/var/log/$2.log\"\n")
        journal.chmod(0o755)
        for name in ("asked", "answered"):
            os.mkfifo(self.folder / "run" / name)
        self.units = {}
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            with open(self.folder / "run/asked", encoding="utf-8") as asked:
                words = asked.read().split()
            try:
                answer = self.systemctl(words)
            except Exception as error:  # the caller must hear of it, and the next one be served
                answer = (1, repr(error))
            with open(self.folder / "run/answered", "w", encoding="utf-8") as answered:
                answered.write(f"{answer[0]} {answer[1]}\n")

    def systemctl(self, words):
        options = [word for word in words if word.startswith("-")]
        verb, *names = (word for word in words if word not in options)
        if verb == "daemon-reload":
            return 0, ""
        units = []
        for name in (name.removesuffix(".service") for name in names):
            if "*" not in name and name not in self.units:
                self.units[name] = Unit(self.folder, name, self.folder / f"var/log/{name}.log")
            units += [unit for unit in self.units.values() if fnmatch.fnmatchcase(unit.name, name)]
        if verb == "status":
            return (0, "active (running)") if all(unit.running() for unit in units) else (3, "inactive (dead)")
        if verb in ("enable", "disable"):
            for unit in units:
                self.link(unit, verb == "enable")
            verb = {"enable": "start", "disable": "stop"}[verb] if "--now" in options else ""
        if verb == "try-restart":
            units = [unit for unit in units if unit.running()]
        if "--no-block" in options:
            for unit in units:
                threading.Thread(target=unit.start, daemon=True).start()
            return 0, ""
        wrong = []
        for unit in units:
            if verb in ("stop", "restart", "try-restart"):
                wrong.append(unit.stop())
            if verb in ("start", "restart", "try-restart"):
                wrong.append(unit.start())
        wrong = [text for text in wrong if text]
        return (1, "; ".join(wrong)) if wrong else (0, "")

    def link(self, unit, wanted):
        link = self.path(f"{WANTS}/{unit.name}.service")
        link.unlink(missing_ok=True)
        if wanted:
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(f"/usr/lib/systemd/system/{unit.name.split('@')[0]}@.service")

    def run(self, block, cwd="/root"):
        """Runs a block of commands; its output and exit code."""
        done = subprocess.run(["chroot", self.folder, "sh", "-exc", f"cd {cwd}\n{block}"], env=ENVIRONMENT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=BLOCK, check=False)
        return done.returncode, done.stdout

    def path(self, name):
        return self.folder / name.lstrip("/")

    def log(self, name):
        log = self.path(f"var/log/{name}.log")
        return log.read_text(errors="replace")[-3000:] if log.exists() else ""


def blocks(document):
    """The commands of the document, by its headings."""
    found, heading = {}, ""
    for line in re.split(r"(?m)^(#+ .*)$", document):
        if line.startswith("#"):
            heading = line.lstrip("# ")
        else:
            found.setdefault(heading, []).extend(re.findall(r"(?ms)^```sh\n(.*?)^```$", line))
    return found


class Upstream(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


def served(root, within=60):
    """Whether a caller gets the upstream's answer through edge and tunnel."""
    until = time.monotonic() + within
    told = ""
    while time.monotonic() < until:
        try:
            tls = ssl.create_default_context(cafile=str(root.path("etc/culvert/secrets/server/ca.crt")))
            connection = http.client.HTTPSConnection(DOMAIN, 8443, timeout=10, context=tls)
            connection.sock = tls.wrap_socket(socket.create_connection(("127.0.0.1", 8443), 10), server_hostname=DOMAIN)
            connection.request("GET", "/", headers={"Host": f"acme-prod.{DOMAIN}"})
            response = connection.getresponse()
            told = f"{response.status} {response.read()[:200]!r}"
            if response.status == 200:
                return True, told
        except OSError as error:
            told = repr(error)
        time.sleep(0.2)
    return False, told


class Gap:
    """Counts the time without a listener of the edge."""

    def __init__(self):
        self.longest = 0.0
        self.since = None
        self.going = True
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while self.going:
            now = time.monotonic()
            try:
                socket.create_connection(("127.0.0.1", 8443), 1).close()
                self.since = None
            except OSError:
                self.since = self.since or now
                self.longest = max(self.longest, now - self.since)
            time.sleep(0.02)

    def end(self):
        self.going = False
        self.thread.join()
        return self.longest


def newer(folder, package, version):
    """The same package with another version."""
    content = folder / "newer"
    subprocess.run(["dpkg-deb", "-R", package, content], check=True)
    control = content / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text()))
    built = folder / f"culvert_{version}_amd64.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-b", content, built], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(content)
    return built


def archive(folder, tar, commands):
    root = Root(folder, tar, "archive")
    fact("no java on the bare system", root.run("command -v java")[0] != 0)
    shutil.copy(next(DIST.glob("culvert-*-linux-x64.tar.gz")), root.path("root"))
    for block in commands["The archive"]:
        code, text = root.run(block)
        fact("archive: every command of the document", code == 0, "demo --check ended 0" if code == 0 else text[-3000:])
        print("\n".join("      " + line for line in text.splitlines() if re.match(r"(ok|FAIL|culvert |aot|run-time)", line)))


def package(folder, tar, commands):
    root = Root(folder, tar, "package")
    deb = next(DIST.glob("culvert_*_amd64.deb"))
    shutil.copy(deb, root.path("root"))
    shutil.copy(newer(folder, deb, "0.1.1"), root.path("root"))

    code, text = root.run(commands["Debian"][0])
    fact("package: installs without network", code == 0, text[-2000:] if code else "")
    fact("package: pulls nothing else", "0 upgraded, 1 newly installed" in text, "")
    fact("package: starts nothing", not root.units)
    fact("package: user culvert", "culvert:" in root.path("etc/passwd").read_text())
    fact("package: secrets are root's", all(oct(root.path(f"etc/culvert/secrets/{part}").stat().st_mode)[-3:] == "700" for part in PARTS))
    fact("package: a cache for commands", root.path("usr/lib/culvert/cache/cli.aot").exists())
    code, text = root.run("culvert demo --check")
    fact("package: demo --check", code == 0, text[-2000:] if code else "")

    code, text = root.run(commands["A server"][0])
    if not fact("server: every command", code == 0, text[-3000:] + root.log(SERVER) if code else ""):
        return root
    http_server = http.server.ThreadingHTTPServer(("127.0.0.1", 3000), Upstream)
    threading.Thread(target=http_server.serve_forever, daemon=True).start()
    code, text = root.run(commands["A client"][0].replace("systemctl enable --now culvert@client\n",
                                                         "systemctl enable --now culvert@client\nsleep 3\n"))
    fact("client: every command", code == 0, text[-3000:] + root.log(CLIENT) if code else "")
    fact("a caller is served", *served(root))
    for part in (SERVER, CLIENT):
        unit = root.units[part]
        status = pathlib.Path(f"/proc/{unit.process.pid}/status").read_text()
        wanted = {"Uid": str(unit.uid), "NoNewPrivs": "1", "CapEff": "0000000000000000", "CapBnd": "0000000000000000"}
        if unit.filter() is not None:
            wanted["Seccomp"] = "2"
        fact(f"{part}: confined", all(re.search(rf"(?m)^{key}:\t{value}", status) for key, value in wanted.items()),
             " ".join(f"{key}={value}" for key, value in wanted.items())
             + f" policy={os.sched_getscheduler(unit.process.pid)} (3: batch)")

    code, text = root.run("culvert cache --only client")
    fact("a cache for the client", code == 0, text[-500:] if code else "")
    config = root.path("etc/culvert/server.yaml")
    config.write_text(config.read_text() + "# changed here\n")
    for time_of in ("first", "second"):
        upgrade(root, commands, time_of)
    backups = sorted(root.path("var/lib/culvert-server").glob("before-*.db"))
    fact("each upgrade has its backup", len(backups) == 2, " ".join(file.name for file in backups))
    two(root, commands)
    removal(root, commands)
    return root


def upgrade(root, commands, time_of):
    config = root.path("etc/culvert/server.yaml")
    first, second = commands["Upgrade, roll back, remove"][:2]
    for name, block, version in ((f"{time_of} upgrade", first, "0.1.1"), (f"{time_of} roll back", second, "0.1.0")):
        gap = Gap()
        code, text = root.run(block)
        if not fact(f"{name}: every command", code == 0, text[-3000:] + root.log(SERVER) if code else ""):
            gap.end()
            return
        fact(f"{name}: version of the package", root.run("dpkg-query -W -f '${Version}' culvert")[1].endswith(version))
        fact(f"{name}: a caller is served", *served(root))
        print(f"      {name}: {gap.end():.1f} s without a listener")
        fact(f"{name}: the changed configuration stays", config.read_text().endswith("# changed here\n"))
        code, text = root.run("culvert runtime list --admin http://127.0.0.1:9090 --admin-token-file /var/lib/culvert-server/admin.token")
        fact(f"{name}: the runtime is known", code == 0 and "acme" in text, text[-500:] if code else "")
        caches = sorted(file.name for file in root.path("usr/lib/culvert/cache").iterdir())
        fact(f"{name}: the caches were made anew", caches == ["cli.aot", "cli.jars", "client.aot", "client.jars"], " ".join(caches))


def two(root, commands):
    """Two servers, of which the second one takes over."""
    before, takeover = commands["Two servers"]
    code, text = root.run(before)
    if not fact("two servers: the first one", code == 0, text[-3000:] + root.log(FIRST) if code else ""):
        return
    fact("two servers: a caller is served", *served(root))
    unit = root.units[FIRST]
    opened = {os.path.basename(name) for name in open_files(unit.process.pid)}
    jars = {file.name for file in root.path("usr/lib/culvert/lib").glob("*.jar")}
    fact("two servers: the first one has all its jars open", jars <= opened, " ".join(sorted(jars - opened)))
    upgraded, taken = takeover.split("systemctl start", 1)
    process = unit.process
    code, text = root.run(upgraded)
    fact("two servers: upgrade", code == 0, text[-2000:] if code else "")
    fact("two servers: the first one goes on", unit.process is process and unit.running())
    fact("two servers: it serves with the jars of before", *served(root))
    code, text = root.run("systemctl start" + taken)
    fact("two servers: the second one takes over", code == 0, text[-3000:] + root.log(SECOND) if code else "")
    fact("two servers: it is ready", *ready(29090))
    links = {link.name for link in root.path(WANTS).glob("culvert*")}
    fact("two servers: what starts with the machine", links == {f"{CLIENT}.service", f"{SECOND}.service"}, " ".join(sorted(links)))


def open_files(process):
    for file in pathlib.Path(f"/proc/{process}/fd").iterdir():
        try:
            yield os.readlink(file)
        except FileNotFoundError:
            pass  # closed meanwhile


def ready(port, within=30):
    until = time.monotonic() + within
    told = ""
    while time.monotonic() < until:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            told = str(connection.getresponse().status)
            if told == "200":
                return True, told
        except OSError as error:
            told = repr(error)
        time.sleep(0.2)
    return False, told


def removal(root, commands):
    remove, purge = (line for line in commands["Upgrade, roll back, remove"][2].splitlines())
    code, text = root.run(remove)
    fact("remove: ends 0", code == 0, text[-2000:] if code else "")
    fact("remove: units are stopped", not any(unit.running() for unit in root.units.values()))
    fact("remove: data, secrets and configuration stay",
         root.path("var/lib/culvert-server/culvert.db").exists() and root.path("etc/culvert/secrets/server/ca.key").exists()
         and root.path("etc/culvert/server.yaml").exists())
    fact("remove: programs and cache go", not root.path("usr/lib/culvert").exists() and not root.path("usr/bin/culvert").is_symlink())
    mine = "etc/systemd/system/culvert@server.service.d"
    code, text = root.run(f"mkdir /{mine}; echo '[Service]' >/{mine}/own.conf; echo CULVERT_LOG_LEVEL=debug >/etc/default/culvert-router\n"
                          "mkdir -p /var/lib/culvert-router; mount -t tmpfs none /var/lib/culvert-router; touch /var/lib/culvert-router/x")
    fact("remove: which units are enabled stays", root.path(f"{WANTS}/{CLIENT}.service").is_symlink() and code == 0, text if code else "")
    code, text = root.run(purge)
    fact("purge: ends 0, a mount point or not", code == 0 and "/var/lib/culvert-router stays" in text, text[-2000:] if code else "")
    fact("purge: the mount is empty", list(root.path("var/lib/culvert-router").iterdir()) == [])
    root.run("umount /var/lib/culvert-router; rmdir /var/lib/culvert-router")
    fact("purge: drop-ins stay", root.path(f"{mine}/own.conf").exists())
    shutil.rmtree(root.path(mine))
    left = [name for name in root.run("find / -xdev -name '*culvert*' -not -path '/root/*' -not -path '/proc/*'")[1].splitlines()
            if name.startswith("/")]
    left = [name for name in left if not name.startswith(("/var/log/culvert", "/run/"))]  # of this script
    fact("purge: nothing is left", left == [] and not root.path("etc/culvert").exists(), " ".join(left))
    fact("purge: the user stays", "culvert:" in root.path("etc/passwd").read_text())


def failures(folder, tar):
    """A post-install that fails, and one that can make no cache."""
    root = Root(folder, tar, "failures")
    deb = next(DIST.glob("culvert_*_amd64.deb"))
    shutil.copy(deb, root.path("root"))
    root.run("mv /usr/sbin/adduser /usr/sbin/adduser.away; printf '#!/bin/sh\\nexit 1\\n' >/usr/sbin/adduser; chmod +x /usr/sbin/adduser")
    code, _ = root.run(f"dpkg -i {deb.name}")
    state = root.run("dpkg-query -W -f '${db:Status-Abbrev}' culvert")[1]
    fact("failed post-install: dpkg tells it", code != 0 and state.rstrip().endswith("iF"), state.splitlines()[-1])
    fact("failed post-install: programs and configuration are there", root.path("etc/culvert/server.yaml").exists()
         and root.path("usr/lib/culvert/bin/culvert").exists())
    code, text = root.run("mv /usr/sbin/adduser.away /usr/sbin/adduser\ntouch /usr/lib/culvert/cache\ndpkg --configure -a")
    fact("dpkg --configure -a ends it, even if no cache can be made", code == 0 and "a cache was not made" in text, text[-600:])
    code, text = root.run("culvert --version")
    fact("commands work without a cache", code == 0 and "culvert " in text, text[-300:] if code else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", help="a root file system, as mmdebstrap --variant=minbase makes it (tar); made when left out")
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--mirror", help="where the suite comes from; mmdebstrap's default when left out")
    given = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("root is needed, for namespaces and chroot")
    if "CULVERT_INSIDE" not in os.environ:
        with tempfile.TemporaryDirectory(prefix="culvert-install-") as folder:
            tar = given.root or f"{folder}/root.tar"
            if not given.root:
                subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--include=git", given.suite, tar, *([given.mirror] if given.mirror else [])], check=True)
            sys.exit(subprocess.run(["unshare", "--net", "--mount", "--propagation", "private", sys.executable, __file__, "--root",
                                     os.path.abspath(tar)], env=dict(os.environ, CULVERT_INSIDE=folder), check=False).returncode)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    folder = pathlib.Path(os.environ["CULVERT_INSIDE"])
    commands = blocks((TREE / "docs/install.md").read_text())
    roots = []
    try:
        archive(folder, given.root, commands)
        roots.append(package(folder, given.root, commands))
        failures(folder, given.root)
    finally:
        for root in roots:
            for unit in root.units.values():
                unit.stop()
    print(f"{len(failed)} of the facts are not as documented" if failed else "all as documented")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
