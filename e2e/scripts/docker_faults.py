#!/usr/bin/env python3
"""Runs the fault tests on Toxiproxy in containers, through Testcontainers, in two test JVMs at once.

Starts Debian's Docker engine for itself, without a bridge and without a firewall rule, in a temporary folder; --running takes
the engine that answers instead. Where the image that the tests ask for can't be pulled, one is made under its name: the fault
server of e2e/src/test and a Java runtime, without a registry. Prints the tests of each class, and on which server they ran;
exits 1 if one fails or if no container was used, 0 with a reason where no engine can be started.

Needs: docker and, without --running, dockerd and root (Debian: docker.io); Maven, a JDK 25 and ldd. The engine is ended, and
an image that was made is removed. Containers without a bridge listen on 127.0.0.1.
"""
import argparse
import glob
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
IMAGE = re.search(r'IMAGE = "(.*)"', (ROOT / "e2e/src/test/java/dev/culvert/e2e/ToxicContainer.java").read_text()).group(1)
SSHD = "testcontainers/sshd:1.3.0"  # through it Testcontainers lets containers behind a bridge reach this machine
TESTS = ["FaultProxyIT", "FaultyNetworkIT", "ResetTunnelIT", "LostTunnelIT"]
MODULES = "java.base,java.logging,java.xml,jdk.httpserver"
SERVER = "dev.culvert.e2e.ToxicServer"
DIST, TEST_CLASSES = ROOT / "launcher/target/dist/lib", ROOT / "e2e/target/test-classes"
PULL_SECONDS = 60
START_SECONDS = 30


def docker(*words, **options):
    return subprocess.run(["docker", *words], capture_output=True, text=True, **options)


def answers():
    try:
        return docker("version", timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def start_engine(folder):
    """Debian's engine with everything of its own in the folder; None where it doesn't come up."""
    socket = f"unix://{folder}/docker.sock"
    log = open(folder / "dockerd.log", "w")
    engine = subprocess.Popen(
        ["dockerd", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false", "--bridge=none",
         f"--data-root={folder}/data", f"--exec-root={folder}/exec", "-H", socket, f"--pidfile={folder}/pid"],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    os.environ["DOCKER_HOST"] = socket
    end = time.monotonic() + START_SECONDS
    while engine.poll() is None and time.monotonic() < end:
        if answers():
            return engine
        time.sleep(0.2)
    stop_engine(engine)
    print("".join(open(folder / "dockerd.log").readlines()[-5:]), end="")
    return None


def stop_engine(engine):
    engine.terminate()
    try:
        engine.wait(20)
    except subprocess.TimeoutExpired:
        engine.kill()
        engine.wait()


def pulled(image):
    if docker("image", "inspect", image).returncode == 0:
        return True
    try:
        return docker("pull", "--quiet", image, timeout=PULL_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def jdk():
    for folder in [os.environ.get("JAVA_HOME", ""), *sorted(glob.glob("/usr/lib/jvm/*"))]:
        release = pathlib.Path(folder, "release")
        version = re.search(r'JAVA_VERSION="(\d+)', release.read_text()) if folder and release.is_file() else None
        if version and int(version.group(1)) >= 25 and pathlib.Path(folder, "bin/jlink").exists():
            return folder
    raise SystemExit("no JDK 25 with jlink in JAVA_HOME or /usr/lib/jvm")


def shared_libraries(runtime):
    """What the runtime's programs and libraries need of this machine's, the dynamic linker included."""
    found = set()
    for file in [runtime / "bin/java", *runtime.glob("lib/**/*.so")]:
        for line in subprocess.run(["ldd", file], capture_output=True, text=True).stdout.splitlines():
            path = re.search(r"(/\S+) \(0x", line)
            if path and not path.group(1).startswith(str(runtime)):
                found.add(path.group(1))
    return sorted(found)


def make_image(folder):
    """An image of the fault server, from a tar file of all that it needs."""
    runtime = folder / "java"
    subprocess.run([jdk() + "/bin/jlink", "--add-modules", MODULES, "--no-header-files", "--no-man-pages", "--output",
                    runtime], check=True)
    root = folder / "root.tar"
    with tarfile.open(root, "w", dereference=True) as tar:
        for name, text in (("etc/passwd", "root:x:0:0::/:/\n"), ("etc/nsswitch.conf", "hosts: files dns\n")):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
        temporary = tarfile.TarInfo("tmp")
        temporary.type, temporary.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(temporary)
        tar.add(runtime, "opt/java")
        for library in shared_libraries(runtime):
            tar.add(library, library.lstrip("/"))
        for file in [*TEST_CLASSES.glob("dev/culvert/e2e/Toxic*.class"), TEST_CLASSES / "dev/culvert/e2e/FaultServer.class"]:
            tar.add(file, "app/classes/" + str(file.relative_to(TEST_CLASSES)))
        for jar in [*DIST.glob("jackson-*.jar"), *DIST.glob("culvert-config-*.jar")]:
            tar.add(jar, "app/lib/" + jar.name)
    entry = (f'ENTRYPOINT ["/opt/java/bin/java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m", "-cp",'
             f' "/app/classes:/app/lib/*", "{SERVER}"]')
    made = docker("import", "-c", entry, "-c", 'CMD ["-host=0.0.0.0"]', str(root), IMAGE)
    if made.returncode:
        raise SystemExit(made.stderr)


def maven(*words):
    return subprocess.run(["mvn", "-B", "-ntp", "-Dspotless.check.skip=true", "-pl", "e2e", "-am", *words], cwd=ROOT,
                          stdin=subprocess.DEVNULL).returncode


def run_tests():
    """Whether all pass, on containers."""
    environment = {"TESTCONTAINERS_RYUK_DISABLED": "true"}
    if docker("network", "ls", "--filter", "driver=bridge", "--quiet").stdout.strip() == "":
        environment["TESTCONTAINERS_HOST_OVERRIDE"] = "127.0.0.1"
    elif not pulled(SSHD):
        print(f"{SSHD} can't be pulled: on the host's network", flush=True)
        environment["CULVERT_FAULT_NETWORK"] = "host"
    os.environ.update(environment)
    reports = ROOT / "e2e/target/failsafe-reports"
    for name in TESTS:
        (reports / f"TEST-dev.culvert.e2e.{name}.xml").unlink(missing_ok=True)
    status = maven("verify", "-Dtest=none", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dit.test=" + ",".join(TESTS),
                   "-Dfailsafe.failIfNoSpecifiedTests=false", "-Dit.forks=2")
    return status == 0 and report(reports)


def report(reports):
    good = True
    for name in TESTS:
        suite = xml.etree.ElementTree.parse(reports / f"TEST-dev.culvert.e2e.{name}.xml").getroot()
        figures = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
        print(f"{name}: " + ", ".join(f"{value} {key}" for key, value in figures.items()) + f", {suite.get('time')} s")
        # FaultProxyIT skips a test where no container is used
        good = good and figures["tests"] > 0 and figures["failures"] + figures["errors"] + figures["skipped"] == 0
    return good


def test_on_engine(folder):
    real = pulled(IMAGE)
    print(f"{IMAGE}: " + ("the real one" if real else "can't be pulled, made of the fault server of this repository"),
          flush=True)
    if not real:
        if not (DIST.is_dir() and (TEST_CLASSES / (SERVER.replace(".", "/") + ".class")).is_file()):
            if maven("package", "-q", "-DskipTests"):
                raise SystemExit("the build failed")
        make_image(folder)
    try:
        return run_tests()
    finally:
        if not real:
            docker("rmi", "--force", IMAGE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--running", action="store_true", help="take the Docker engine that answers, and start none")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the engine's log")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-docker-"))
    engine = None
    try:
        if arguments.running:
            if not answers():
                print("no Docker engine answers")
                return 0
        elif os.geteuid() or not shutil.which("dockerd") or not shutil.which("docker"):
            print("no Docker engine can be started: it takes root, docker and dockerd")
            return 0
        else:
            engine = start_engine(folder)
            if engine is None:
                print("the Docker engine did not start")
                return 1
        return 0 if test_on_engine(folder) else 1
    finally:
        if engine is not None:
            stop_engine(engine)
            # The engine leaves its host namespace mounted, and the folder could not be deleted.
            subprocess.run(["umount", folder / "exec/netns/default"], capture_output=True)
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
