#!/usr/bin/env python3
"""Clones and pushes a large Git repository through edge, tunnel, router and App-Proxy, and watches their memory.

Each part is a process with a heap of 64 MiB and 64 MiB of direct memory. First a repository of 1 MiB, for what a part takes
once it has served Git at all; then one of 200 MiB. Fails unless both arrive whole (git fsck, same commits) and no part's
memory grew by more than 64 MiB over the small repository's peak, nor that of the git processes of the App-Proxy together.
Memory is read every 0.1 s.

Needs: python3, git 2.37 or newer and ./culvert of this repository. Everything stays on 127.0.0.1.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from parts import Gateway, free_port

DOMAIN = "git.test"
HOST = "acme-prod." + DOMAIN
OPTIONS = "-Xmx64m -XX:MaxDirectMemorySize=64m"
GROWTH_MIB = 64
PIECE = 1 << 20


def git(folder, *words):
    """Runs git without any user's configuration. Returns its output."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") and not k.lower().endswith("_proxy")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0",
                    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@git.test", "GIT_COMMITTER_NAME": "a",
                    "GIT_COMMITTER_EMAIL": "a@git.test"}
    done = subprocess.run(["git", "-c", "core.compression=0", *words], cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"git {' '.join(words)}: {done.stdout[-2000:]}")
    return done.stdout.strip()


def mib(pid, file, field):
    """A size in /proc of a process, in MiB; 0 when the process has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/{file}").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def descendants(pid):
    """The processes that a process started, and theirs."""
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return children + [deeper for child in children for deeper in descendants(child)]


class Memory:
    """The peak memory of the parts (resident) and of all processes that the App-Proxy started (anonymous, in all)."""

    def __init__(self, parts):
        self.pids = {name: part.process.pid for name, part in parts.items()}
        self.peaks = {}
        self.lock = threading.Lock()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while True:
            now = {name: mib(pid, "status", "VmRSS:") for name, pid in self.pids.items()}
            now["git"] = sum(mib(pid, "smaps_rollup", "Anonymous:") for pid in descendants(self.pids["app-proxy"]))
            with self.lock:
                self.peaks = {name: max(self.peaks.get(name, 0), now[name]) for name in now}
            time.sleep(0.1)

    def since_last(self):
        """The peaks since the last call."""
        time.sleep(0.5)
        with self.lock:
            peaks, self.peaks = self.peaks, {}
        return peaks


def random_files(folder, count, together):
    """Pieces of 1 MiB that don't compress, each in a file of its own or all in one."""
    for number in range(count):
        with open(folder / ("all" if together else f"part-{number:04}"), "ab") as file:
            file.write(os.urandom(PIECE))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--mib", type=int, default=200, help="of the large repository (default: 200)")
    arguments.add_argument("--one-file", action="store_true", help="the large repository is one file")
    arguments.add_argument("--keep", action="store_true", help="keeps the folder with the logs")
    options = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-git-"))
    repositories = folder / "repositories"
    repositories.mkdir()
    for name in ("small", "large"):
        git(repositories, "init", "--quiet", "--bare", "--initial-branch=main", f"{name}.git")
    gateway = Gateway(folder, DOMAIN, OPTIONS)
    proxy = free_port()
    (folder / "app-proxy.yaml").write_text(f"""\
listen: 127.0.0.1:{proxy}
runtime: acme/prod
handlers: {{ git: {{ repositories: repositories, allowPush: true }} }}
""")
    parts = gateway.parts
    faults = []
    try:
        gateway.start("app-proxy", "listening")
        gateway.connect(f"""  routes: [{{ path: /app-proxy/, to: "http://127.0.0.1:{proxy}" }}]\n""")
        way = ["-c", f"http.curloptResolve={HOST}:{gateway.edge}:127.0.0.1", "-c",
               f"http.sslCAInfo={folder / 'certs' / 'ca.crt'}"]
        memory = Memory(parts)
        peaks = {}
        for name, size in (("small", 1), ("large", options.mib)):
            url = f"https://{HOST}:{gateway.edge}/app-proxy/git/{name}.git"
            work, clone = folder / f"{name}-work", folder / f"{name}-clone"
            work.mkdir()
            git(work, "init", "--quiet", "--initial-branch=main")
            random_files(work, size, options.one_file)
            git(work, "add", ".")
            git(work, "commit", "--quiet", "-m", name)
            memory.since_last()
            began = time.monotonic()
            git(work, *way, "push", "--quiet", url, "main")
            pushed = time.monotonic()
            after_push = memory.since_last()
            again = time.monotonic()
            git(folder, *way, "clone", "--quiet", url, str(clone))
            cloned = time.monotonic()
            after_clone = memory.since_last()
            peaks[name] = {part: max(after_push[part], after_clone[part]) for part in after_push}
            git(repositories / f"{name}.git", "fsck", "--no-progress", "--full")
            git(clone, "fsck", "--no-progress", "--full")
            heads = {git(at, "rev-parse", "main") for at in (work, clone, repositories / f"{name}.git")}
            if len(heads) != 1:
                faults.append(f"{name}: the commits differ: {heads}")
            print(f"{name}, {size} MiB: push {pushed - began:.1f} s, clone {cloned - again:.1f} s")
            for part in after_push:
                print(f"  {part}: push {after_push[part]:.0f} MiB, clone {after_clone[part]:.0f} MiB")
        for part in peaks["large"]:
            growth = peaks["large"][part] - peaks["small"][part]
            print(f"{part}: {growth:+.0f} MiB from the small repository to the large one")
            if growth > GROWTH_MIB:
                faults.append(f"{part} grew by {growth:.0f} MiB (limit: {GROWTH_MIB})")
        faults += [f"{part} died" for part in parts if parts[part].process.poll() is not None]
    finally:
        gateway.end()
    for log in folder.glob("*.log"):
        text = log.read_text(errors="replace")
        if "OutOf" in text:
            faults.append(f"{log.name}: {text[text.index('OutOf'):][:200]}")
    if options.keep or faults:
        print(f"logs: {folder}")
    else:
        shutil.rmtree(folder)
    for fault in faults:
        print(f"FAILED: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
