#!/usr/bin/env python3
"""Lets real programs work with their real servers, straight and through edge and tunnel, and compares what they saw.

Git with Apache, curl with Apache and Node, skopeo with docker-registry, litmus with Apache's WebDAV, socket.io, grpc-js,
and Chromium. Each server speaks TLS with the edge's certificate; each job runs first straight, then through a server and a
client of this repository. Prints a line for each job and for each point that differs: `by design` where
docs/interoperability.md says so, else DIFFERS. Exits 1 if a point differs that is not by design, or if a job failed. What is
not installed is skipped, and said so. What was seen is in points.json in the folder of each job.

Needs: python3, unshare with the right to mount (root), ./culvert of this repository, and, as far as they are there
(--install installs them with apt-get): git apache2 curl skopeo docker-registry litmus nodejs npm chromium openssl. npm
fetches socket.io, grpc-js and ws. Everything else stays on 127.0.0.1: the host's name is resolved by a hosts file that only
this script and its programs see.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from parts import Gateway
from programs import jobs, servers

DOMAIN = "interop.test"
HOST = "acme-prod." + DOMAIN
PACKAGES = "git apache2 curl skopeo docker-registry litmus nodejs npm chromium openssl".split()
MODULES = ["socket.io@4.8.4", "socket.io-client@4.8.4", "@grpc/grpc-js@1.14.7", "@grpc/proto-loader@0.8.1", "ws@8.23.0"]
INSIDE = "INTEROP_HOSTS"
# Points that differ by design (docs/interoperability.md), and what is then seen through the tunnel.
BY_DESIGN = {
    "dot segments": lambda seen: seen["statuses"] == ["400"],
    "TRACE": lambda seen: seen["statuses"] == ["405"],
    "an Upgrade to SPDY": lambda seen: seen["statuses"] == ["200"],
}


def with_hosts():
    """Starts this script again in a mount namespace where the host's name is 127.0.0.1."""
    with tempfile.NamedTemporaryFile("w", prefix="culvert-hosts-") as hosts:
        hosts.write(f"127.0.0.1 localhost {HOST}\n")
        hosts.flush()
        script = 'mount --bind "$0" /etc/hosts && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", script, hosts.name, sys.executable, *sys.argv]
        if "--install" in command:
            command.remove("--install")
        sys.exit(subprocess.run(command, env={**os.environ, INSIDE: "1"}).returncode)


def versions(modules):
    """The versions of the programs, in words."""
    found = {}
    for program in ("git", "apache2", "curl", "skopeo", "docker-registry", "node", "chromium"):
        if shutil.which(program):
            flag = "-v" if program == "apache2" else "--version"
            line = subprocess.run([program, flag], capture_output=True, text=True).stdout.splitlines()[0]
            found[program] = next((word for word in line.replace("/", " ").split() if word.lstrip("v")[:1].isdigit()), line)
    if shutil.which("litmus"):
        shown = subprocess.run(["litmus", "--version"], capture_output=True, text=True)
        found["litmus"] = (shown.stdout + shown.stderr).split()[1]
    for module in MODULES if modules else []:
        found[module.rsplit("@", 1)[0]] = module.rsplit("@", 1)[1]
    return found


def started(make, skipped, name):
    """A server, or nothing if its program is missing."""
    try:
        return make()
    except servers.Missing as reason:
        skipped[name] = str(reason)
        return None


def compare(name, straight, through):
    """Prints how the two differ. Returns the counts of points that are the same, differ by design, and differ."""
    counts = [0, 0, 0]
    for point in straight | through:
        one, other = straight.get(point), through.get(point)
        if one == other:
            counts[0] += 1
        elif point in BY_DESIGN and other is not None and BY_DESIGN[point](other):
            counts[1] += 1
            print(f"by design {name}: {point}", flush=True)
        else:
            counts[2] += 1
            print(f"DIFFERS   {name}: {point}\n  straight: {difference(one, other)}\n"
                  f"  through:  {difference(other, one)}", flush=True)
    return counts


def difference(one, other):
    """What is in one and not in the other."""
    if isinstance(one, dict) and isinstance(other, dict):
        one = {key: difference(value, other.get(key)) for key, value in one.items() if value != other.get(key)}
    elif isinstance(one, list) and isinstance(other, list) and one and isinstance(one[0], list):
        one = [value for value in one if value not in other]
    return json.dumps(one, ensure_ascii=False)[:700] if not isinstance(one, str) else one[:700]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--install", action="store_true", help="installs the Debian packages first (apt-get, as root)")
    arguments.add_argument("--only", help="jobs with this in their name")
    arguments.add_argument("--keep", action="store_true", help="keeps the folder with the logs")
    options = arguments.parse_args()
    if options.install:
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES], check=True,
                       stdout=subprocess.DEVNULL)
    if INSIDE not in os.environ:
        with_hosts()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-interop-"))
    folder.chmod(0o755)
    modules = None
    if shutil.which("npm"):
        modules = folder / "modules"
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(modules), *MODULES],
                       check=True)
    gateway = Gateway(folder, DOMAIN)
    certificates = folder / "certs"
    files, dav, repositories = (folder / name for name in ("files", "dav", "repositories"))
    for path in (files, dav, repositories):
        path.mkdir()
    jobs.curl_files(files)
    skipped, running = {}, {}
    key = (certificates / "edge.crt", certificates / "edge.key")
    if shutil.which("git"):
        jobs.git_seed(folder, repositories)
    if shutil.which("skopeo"):
        jobs.image(folder)
    for name, make in {
        "apache": lambda: servers.apache(folder, HOST, certificates, files, dav, repositories),
        "registry": lambda: servers.registry(folder, HOST, certificates),
        "web": lambda: servers.node(folder, "web", modules, *key),
        "sockets": lambda: servers.node(folder, "sockets", modules, "serve", *key),
        "grpc": lambda: servers.node(folder, "grpc", modules, "serve", *key),
    }.items():
        running[name] = started(make, skipped, name)
    work = {  # a name: its server and its job
        "git, HTTP/1.1": ("apache", lambda place: jobs.git_job(place, "1.1")),
        "git, HTTP/2": ("apache", lambda place: jobs.git_job(place, "2")),
        "curl and Apache, HTTP/1.1": ("apache", lambda place: jobs.curl_apache(place, "1.1")),
        "curl and Apache, HTTP/2": ("apache", lambda place: jobs.curl_apache(place, "2")),
        "curl and Node, HTTP/1.1": ("web", lambda place: jobs.curl_web(place, "1.1")),
        "curl and Node, HTTP/2": ("web", lambda place: jobs.curl_web(place, "2")),
        "skopeo and docker-registry": ("registry", jobs.skopeo_job),
        "litmus and Apache": ("apache", jobs.litmus_job),
        "socket.io": ("sockets", jobs.sockets_job),
        "grpc-js": ("grpc", jobs.grpc_job),
        "Chromium": ("web", lambda place: jobs.browser(place, running["web"])),
    }
    paths = {"apache": ("/files/", "/dav/", "/git/"), "registry": ("/v2/",), "web": ("/web/",), "sockets": ("/socket.io/",),
             "grpc": ("/interop.Probe/",)}
    routes = "".join(f'    - {{ path: {path}, to: "https://{HOST}:{server.port}" }}\n'
                     for name, server in running.items() if server for path in paths[name])
    addresses = ", ".join(f'"{HOST}:{server.port}": "127.0.0.1:{server.port}"' for server in running.values() if server)
    failed = 0
    try:
        print(", ".join(f"{name} {version}" for name, version in versions(modules).items()), flush=True)
        gateway.connect(f'  upstreams: {{ ca: certs/ca.crt }}\n  resolve: {{ {addresses} }}\n  routes:\n{routes}')
        for name, (server, job) in work.items():
            if options.only and options.only not in name:
                continue
            if running[server] is None:
                print(f"skipped   {name}: {skipped[server]}", flush=True)
                continue
            began = time.monotonic()
            seen = {}
            try:
                for where, port in (("straight", running[server].port), ("through", gateway.edge)):
                    own = folder / f"job-{len(list(folder.glob('job-*')))}" / where
                    own.mkdir(parents=True)
                    seen[where] = job(jobs.Place(where, HOST, port, own, certificates, modules))
            except servers.Missing as reason:
                print(f"skipped   {name}: {reason}", flush=True)
                continue
            except (AssertionError, OSError, ValueError, subprocess.SubprocessError) as trouble:
                failed += 1
                print(f"FAILED    {name}, {where}: {trouble}", flush=True)
                continue
            (own.parent / "points.json").write_text(json.dumps({"job": name, **seen}, indent=1, ensure_ascii=False))
            same, designed, differing = compare(name, seen["straight"], seen["through"])
            failed += differing > 0
            print(f"{'DIFFERS' if differing else 'same':9} {name}: {same} points the same, {designed} differ by design, "
                  f"{differing} differ otherwise; {time.monotonic() - began:.0f} s", flush=True)
        for name, part in gateway.parts.items():
            if part.process.poll() is not None:
                failed += 1
                print(f"FAILED    {name} died", flush=True)
    finally:
        gateway.end()
        for server in filter(None, running.values()):
            server.end()
    if options.keep or failed:
        print(f"logs: {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
