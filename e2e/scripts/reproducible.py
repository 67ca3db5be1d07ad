#!/usr/bin/env python3
"""Builds the distribution twice, from two clones of one commit in folders of different names, at two times, with different
time zones, locales and umasks, and compares archives and package byte by byte. Exits 1 if they differ.

Needs: git, Maven, and a JDK 25, as the build does. Takes two builds.
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILDS = (("a", {"TZ": "UTC", "LC_ALL": "C.UTF-8"}, 0o022),
          ("another-folder/with a longer name", {"TZ": "Asia/Kathmandu", "LC_ALL": "C"}, 0o077))


def build(folder, environment, umask, offline):
    subprocess.run(["git", "clone", "--quiet", TREE, folder], check=True)
    command = ["mvn", "-B", "-q", "-ntp", *(["-o"] if offline else []), "package", "-pl", "deploy/dist", "-am",
               "-Dmaven.test.skip=true", "-Dspotless.check.skip=true", "-Djacoco.skip=true"]
    subprocess.run(command, cwd=folder, env=dict(os.environ, **environment), umask=umask, check=True)
    target = pathlib.Path(folder) / "deploy/dist/target"
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted([*target.glob("*.tar.gz"), *target.glob("*.deb")])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--offline", action="store_true", help="Maven looks for nothing in registries")
    parser.add_argument("--keep", help="build below this folder, and leave it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="culvert-reproducible-") as folder:
        results = [build(f"{given.keep or folder}/{name}", environment, umask, given.offline)
                   for name, environment, umask in BUILDS]
    same = bool(results[0]) and results[0] == results[1]
    for name, digest in results[0].items():
        print(("same     " if results[1].get(name) == digest else "DIFFERS  ") + f"{digest}  {name}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
