#!/usr/bin/env python3
"""Builds the container image twice, runs it from its unpacked layers, and takes it through a registry. As root.

  1. Two builds have one digest.
  2. The layers are unpacked into a folder, which is mounted read-only in namespaces of its own; there the image's user,
     with no capability and no new privileges, runs culvert --version, culvert demo --check and a router that is stopped
     by SIGTERM.
  3. The archive is pushed to Debian's docker-registry on loopback by skopeo, and pulled: the digest stays.

Needs: the packages docker-registry and skopeo, and what deploy/image/build needs. Exits 1 if anything differs.
"""
import ctypes
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = TREE / "deploy/image/build"
# What setpriv and chroot can only do one after the other: enter the folder, give up everything, become the part.
BECOME = "/usr/bin/python3 -I " + __file__ + " --become"
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, LAST_CAPABILITY = 38, 24, 63


def build(output):
    return subprocess.run([BUILD, "--output", output], check=True, capture_output=True, text=True).stdout.strip()


def read(archive, name):
    with tarfile.open(archive) as tar:
        return tar.extractfile(name).read()


def blob(archive, digest):
    return read(archive, "blobs/sha256/" + digest.removeprefix("sha256:"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def unpack(archive, manifest, folder):
    for layer in manifest["layers"]:
        with tempfile.NamedTemporaryFile() as file:
            file.write(blob(archive, layer["digest"]))
            file.flush()
            subprocess.run(["tar", "xzpf", file.name, "-C", folder], check=True)


def inside(root, config, *arguments):
    """The command that runs the image's entry point in namespaces of its own, as an engine would."""
    user, group = config["User"].split(":")
    steps = f"""
        mount --make-rprivate / && mount --bind {root} {root}
        mount -t tmpfs tmpfs {root}/tmp && mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev
        mount -o remount,bind,ro {root}
        exec env -i {' '.join(config['Env'])} {BECOME} {user} {group} {root} "$@" """
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts", "bash", "-ec", steps, "bash",
            *config["Entrypoint"], *arguments]


def become(user, group, root, *command):
    libc = ctypes.CDLL(None)
    os.chroot(root)
    os.chdir("/")
    for capability in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setgid(int(group))
    os.setuid(int(user))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.execv(command[0], command)


def main():
    if sys.argv[1:2] == ["--become"]:
        become(*sys.argv[2:])
    if os.geteuid() != 0:
        sys.exit("as root: layers are unpacked with their owners, and namespaces are made")
    good = True

    def tell(passed, text):
        nonlocal good
        good &= bool(passed)
        print(("ok    " if passed else "FAIL  ") + text, flush=True)

    with tempfile.TemporaryDirectory(prefix="culvert-image-") as work:
        work = pathlib.Path(work)
        archive = work / "first.tar"
        first, second = build(archive), build(work / "second.tar")
        tell(first == second, f"two builds: {first}")
        tell((work / "second.tar").read_bytes() == archive.read_bytes(), "and the same archive, byte by byte")

        manifest = json.loads(blob(archive, first))
        image = json.loads(blob(archive, manifest["config"]["digest"]))
        config = image["config"]
        for layer, history in zip(manifest["layers"], image["history"]):
            print(f"      layer {layer['size'] / 2**20:6.1f} MiB  {history['comment']}")
        tell(re.fullmatch(r"[1-9]\d*:[1-9]\d*", config["User"]), f"user {config['User']}")
        bill = next(json.loads(blob(archive, each["digest"])) for each in json.loads(read(archive, "index.json"))["manifests"]
                    if each["digest"] != first)
        tell(bill["subject"]["digest"] == first, f"attached: {bill['artifactType']}")

        root = work / "root"
        root.mkdir()
        unpack(archive, manifest, root)
        for folder in ("proc", "dev"):
            (root / folder).mkdir(exist_ok=True)
        for name in ("resolv.conf", "hosts"):  # an engine mounts its own
            (root / "etc" / name).write_bytes(pathlib.Path("/etc", name).read_bytes())
        size = sum(file.lstat().st_size for file in root.rglob("*") if not file.is_symlink() and file.is_file())
        print(f"      {size / 2**20:.0f} MiB unpacked, {sum(layer['size'] for layer in manifest['layers']) / 2**20:.0f} MiB packed")
        shells = [file for file in root.rglob("*") if file.name in ("sh", "bash", "dash", "busybox")]
        tell(not shells, "no shell in it")
        try_it(root, config, tell)
        through_registry(work, archive, first, tell)
    sys.exit(0 if good else 1)


def try_it(root, config, tell):
    version = subprocess.run(inside(root, config, "--version"), capture_output=True, text=True)
    tell(version.returncode == 0, f"culvert --version: {' '.join(version.stdout.split())} {version.stderr}")
    began = time.monotonic()
    demo = subprocess.run(inside(root, config, "demo", "--check", "--port-offset", "7000"), capture_output=True, text=True)
    checks = [line for line in demo.stdout.splitlines() if re.match("ok |FAIL|skip", line)]
    tell(demo.returncode == 0, f"culvert demo --check: {len(checks)} checks, {time.monotonic() - began:.0f} s")
    if demo.returncode != 0:
        print(demo.stdout, demo.stderr)

    port = free_port()
    router = subprocess.Popen(inside(root, config, "router", "--listen", f"127.0.0.1:{port}"),
                              stdout=subprocess.PIPE, text=True)
    lines = [router.stdout.readline()]
    while '"listening"' not in lines[-1] and lines[-1]:
        lines.append(router.stdout.readline())
    ready = urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10).status
    # The first process of the pid namespace is the part: a child of unshare.
    child = int(pathlib.Path(f"/proc/{router.pid}/task/{router.pid}/children").read_text().split()[0])
    status = pathlib.Path(f"/proc/{child}/status").read_text()
    tell(re.search(r"^Uid:\s+10001\s+10001", status, re.M) and "CapEff:\t0000000000000000" in status,
         "the part is its namespace's first process, of user 10001, without a capability")
    os.kill(child, signal.SIGTERM)
    rest = router.communicate(timeout=60)[0]
    lines += rest.splitlines()
    logs = [line for line in lines if line.strip()]
    tell(ready == 200 and all(line.startswith("{") and json.loads(line) for line in logs),
         f"the router is ready; its {len(logs)} lines are JSON")
    tell(router.returncode == 0, f"SIGTERM: it drains and ends with {router.returncode}")


def through_registry(work, archive, digest, tell):
    port = free_port()
    settings = work / "registry.yml"
    settings.write_text(f"""version: 0.1
storage: {{ filesystem: {{ rootdirectory: {work}/registry }} }}
http: {{ addr: "127.0.0.1:{port}" }}
""")
    registry = subprocess.Popen(["docker-registry", "serve", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=2)
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
        version = next(each["annotations"]["org.opencontainers.image.ref.name"]
                       for each in json.loads(read(archive, "index.json"))["manifests"] if each["digest"] == digest)
        name = f"docker://127.0.0.1:{port}/culvert"
        subprocess.run(["skopeo", "copy", "-q", "--dest-tls-verify=false", f"oci-archive:{archive}:{version}",
                        f"{name}:{version}"], check=True)
        seen = subprocess.run(["skopeo", "inspect", "--tls-verify=false", "--format", "{{.Digest}}", f"{name}:{version}"],
                              check=True, capture_output=True, text=True).stdout.strip()
        tell(seen == digest, f"pushed: the registry has {seen}")
        subprocess.run(["skopeo", "copy", "-q", "--dest-tls-verify=false", f"oci-archive:{archive}:{version}.sbom",
                        f"{name}:{version}.sbom"], check=True)
        bill = json.loads(subprocess.run(["skopeo", "inspect", "--raw", "--tls-verify=false", f"{name}:{version}.sbom"],
                                         check=True, capture_output=True).stdout)
        tell(bill["subject"]["digest"] == digest, "pushed: the bill of materials, which refers to it")
        pulled = work / "pulled.tar"
        subprocess.run(["skopeo", "copy", "-q", "--src-tls-verify=false", f"{name}@{digest}",
                        f"oci-archive:{pulled}:{version}"], check=True)
        back = json.loads(read(pulled, "index.json"))["manifests"][0]["digest"]
        tell(back == digest and hashlib.sha256(blob(pulled, back)).hexdigest() == digest.removeprefix("sha256:"),
             "pulled: the same digest")
    finally:
        registry.terminate()
        registry.wait()


if __name__ == "__main__":
    main()
