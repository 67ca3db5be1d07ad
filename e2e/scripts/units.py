"""Starts units of systemd where systemd does not run, under the restrictions that a script can apply.

Applied: User, Group, UMask, StateDirectory, WorkingDirectory, EnvironmentFile, Environment, LoadCredential, Type=notify,
CPUSchedulingPolicy, NoNewPrivileges, CapabilityBoundingSet, ProtectSystem=strict, ProtectHome, ProtectProc, PrivateTmp
(mounted noexec, as where /tmp is), PrivateDevices, SystemCallFilter and RestrictAddressFamilies (the two with python3-seccomp).
Not applied: PrivateUsers, ProtectClock, ProtectControlGroups, ProtectHostname, ProtectKernel*, RestrictNamespaces,
RestrictSUIDSGID, RestrictRealtime, LockPersonality, RemoveIPC, TasksMax, and LimitNOFILE beyond the caller's own limit.
"""
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import socket
import stat
import subprocess
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWUTS, NEWIPC = 0x20000, 0x4000000, 0x8000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
STARTED = 90  # seconds


def check(result):
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def mount(source, target, kind=None, flags=0, data=None):
    check(LIBC.mount(*(str(x).encode() if x is not None else None for x in (source, target, kind)), flags,
                     data.encode() if data else None))


def credentials_of(source):
    """The files of a folder as credentials: names and paths. As systemd does, it takes those of folders below it, and
    neither symbolic links nor hidden files."""
    for entry in sorted(source.iterdir()):
        if entry.is_symlink() or entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from ((f"{entry.name}_{name}", file) for name, file in credentials_of(entry))
        elif entry.is_file():
            yield entry.name, entry


def settings(text, instance):
    """The settings of a unit, each with all its values."""
    found = {}
    for line in text.splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found.setdefault(key.strip(), []).append(value.strip().replace("%i", instance))
    return found


def system_calls(wanted):
    """The names of a filter's groups, as systemd expands them."""
    names = set()
    for word in wanted:
        if word.startswith("@"):
            listed = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True).stdout
            names |= system_calls(line.strip() for line in listed.splitlines()[1:]
                                  if line.startswith("    ") and not line.strip().startswith("#"))
        else:
            names.add(word)
    return names


class Unit:
    """One instance of a template below a root folder, as culvert@server or culvert-server@a."""

    def __init__(self, root, name, log):
        self.root = pathlib.Path(root)
        self.name = name
        self.log = log
        template, instance = name.split("@")
        self.settings = settings((self.root / f"usr/lib/systemd/system/{template}@.service").read_text(), instance)
        self.process = None
        entry = next(line for line in (self.root / "etc/passwd").read_text().splitlines()
                     if line.startswith(self.one("User") + ":")).split(":")
        self.uid, self.gid = int(entry[2]), int(entry[3])

    def one(self, key):
        return self.settings[key][-1]

    def running(self):
        return self.process is not None and self.process.poll() is None

    def start(self):
        """Returns when the unit is ready, as systemctl start does; None, or what went wrong."""
        if self.running():
            return None
        if not (self.root / self.one("ConditionPathExists").lstrip("/")).exists():
            return "its condition is not met"
        state = self.root / "var/lib" / self.one("StateDirectory")
        state.mkdir(exist_ok=True)
        os.chown(state, self.uid, self.gid)
        state.chmod(int(self.one("StateDirectoryMode"), 8))
        notify = self.root / f"run/notify-{self.name}"
        notify.unlink(missing_ok=True)
        heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        heard.bind(str(notify))
        notify.chmod(0o777)
        heard.settimeout(STARTED)
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "NOTIFY_SOCKET": f"/run/notify-{self.name}",
                       "CREDENTIALS_DIRECTORY": f"/run/credentials/{self.name}.service"}
        environment.update(value.split("=", 1) for value in self.settings.get("Environment", []))
        defaults = self.root / self.one("EnvironmentFile").lstrip("-/")
        if defaults.exists():
            environment.update(line.split("=", 1) for line in defaults.read_text().splitlines() if "=" in line)
        calls = self.filter()
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(self.one("ExecStart").split(), env=environment, stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=output, preexec_fn=lambda: self.confine(calls))
        threading.Thread(target=self.process.wait, daemon=True).start()
        try:
            while True:
                try:
                    heard.settimeout(1)
                    if b"READY=1" in heard.recv(4096):
                        return None
                except TimeoutError:
                    if not self.running():
                        return f"it ended with {self.process.poll()}"
        finally:
            heard.close()

    def stop(self):
        if self.running():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(int(self.one("TimeoutStopSec")))
            except subprocess.TimeoutExpired:
                self.process.kill()
                return "it was killed"
        return None

    def filter(self):
        try:
            import seccomp
        except ImportError:
            return None
        wanted, left = set(), set()
        for value in self.settings["SystemCallFilter"]:
            (left if value.startswith("~") else wanted).update(value.lstrip("~").split())
        made = seccomp.SyscallFilter(seccomp.ERRNO(1))
        for name in sorted(system_calls(wanted) - system_calls(left) - {"socket"}):
            try:
                made.add_rule(seccomp.ALLOW, name)
            except (RuntimeError, ValueError, OSError):
                pass  # a call that this architecture does not have
        for family in self.one("RestrictAddressFamilies").split():
            made.add_rule(seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, getattr(socket, family)))
        return made

    def confine(self, calls):
        """In the child, before the program is executed."""
        root = str(self.root)
        check(LIBC.unshare(NEWNS | NEWIPC | NEWUTS))
        mount("none", "/", None, REC | PRIVATE)
        mount(root, root, None, BIND)
        os.chdir(root)
        # ProtectSystem=strict: read-only, but for the state folder and /tmp
        state = f"{root}/var/lib/{self.one('StateDirectory')}"
        mount(state, state, None, BIND)
        for folder in ("tmp", "var/tmp"):  # PrivateTmp
            mount("tmpfs", f"{root}/{folder}", "tmpfs", NOSUID | NODEV | NOEXEC, "mode=1777")
        for folder in ("home", "root"):  # ProtectHome
            mount("tmpfs", f"{root}/{folder}", "tmpfs", NOSUID | NODEV | RDONLY, "mode=0")
        devices = f"{root}/dev"  # PrivateDevices
        mount("tmpfs", devices, "tmpfs", NOSUID, "mode=0755")
        for name in DEVICES:
            os.mknod(f"{devices}/{name}", 0o666 | stat.S_IFCHR, os.stat(f"/dev/{name}").st_rdev)
            os.chmod(f"{devices}/{name}", 0o666)
        mount("proc", f"{root}/proc", "proc", NOSUID | NODEV, "hidepid=2")  # ProtectProc
        credentials = f"{root}/run/credentials/{self.name}.service"
        os.makedirs(credentials, exist_ok=True)
        mount("tmpfs", credentials, "tmpfs", NOSUID | NODEV, "mode=0500")
        for value in self.settings.get("LoadCredential", []):
            name, source = value.split(":", 1)
            for end, file in credentials_of(pathlib.Path(root + source)):
                copy = f"{credentials}/{name}_{end}"
                shutil.copyfile(file, copy)
                os.chown(copy, self.uid, self.gid)
                os.chmod(copy, 0o400)
        os.chown(credentials, self.uid, self.gid)
        mount(None, root, None, REMOUNT | BIND | RDONLY)
        os.chroot(".")
        os.chdir(self.one("WorkingDirectory"))
        if self.one("CPUSchedulingPolicy") == "batch":
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        files = min(int(self.one("LimitNOFILE")), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        os.umask(int(self.one("UMask"), 8))
        for capability in range(64):
            LIBC.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP: beyond the last one it fails
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        check(LIBC.prctl(38, 1, 0, 0, 0))  # PR_SET_NO_NEW_PRIVS
        if calls is not None:
            calls.load()
