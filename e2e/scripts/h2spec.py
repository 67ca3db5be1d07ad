#!/usr/bin/env python3
"""Runs h2spec, all its cases, against the edge of a server that was set up as the documents say.

Makes certificates with `culvert certs init`, starts `culvert server` with its defaults on free ports, and lets h2spec call
the edge over TLS. No runtime has the host that h2spec asks for: the edge answers it 404 by itself. Prints what failed and the
tally; exits 1 if a case failed or was left out.

Needs: python3, ./culvert of this repository, and h2spec, whose path is the argument. It has no Debian package; to build it
from its source (github.com/summerwind/h2spec, 2.6.1 or newer) with Debian's own Go packages (golang-go
golang-golang-x-net-dev golang-github-fatih-color-dev golang-github-spf13-cobra-dev), put the source into
G/src/github.com/summerwind/h2spec of some folder G, and run there

    GO111MODULE=off GOPATH=G:/usr/share/gocode go build -o h2spec ./cmd/h2spec

Everything stays on 127.0.0.1. Takes half a minute.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import parts

DOMAIN = "h2.culvert.test"
CONFIG = """
edge: { listen: 127.0.0.1:0, domain: %s, tls: { certificate: edge.crt, key: edge.key } }
tunnel: { listen: 127.0.0.1:0, tls: { certificate: tunnel.crt, key: tunnel.key },
          ca: { certificate: ca.crt, key: ca.key } }
admin: { listen: 127.0.0.1:0 }
dataDir: data
"""


def edge_port(server):
    """The port of the edge, once it listens."""
    server.wait('"event":"listening"')
    line = next(line for _, line in server.lines if '"event":"listening"' in line)
    return json.loads(line)["edge"].rsplit(":", 1)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("h2spec", help="path of h2spec")
    parser.add_argument("--timeout", default="4", help="seconds that h2spec waits for an answer (default: 4)")
    given = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-h2spec-"))
    subprocess.run([parts.ROOT / "culvert", "certs", "init", "--dir", folder, "--domain", DOMAIN], check=True,
                   stdout=subprocess.DEVNULL)
    config = folder / "server.yaml"
    config.write_text(CONFIG % DOMAIN)
    server = parts.Part("server", folder, "server", "--config", str(config), kept=r"\{")
    try:
        told = subprocess.run([given.h2spec, "-t", "-k", "-S", "-h", "127.0.0.1", "-p", edge_port(server), "-o", given.timeout],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    finally:
        server.end()
    (folder / "h2spec.txt").write_text(told)
    tally = re.search(r"(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed", told)
    if not tally:
        sys.exit("h2spec did not run to its end; see %s" % (folder / "h2spec.txt"))
    if "Failures:" in told:
        print(told[told.index("Failures:"):])
    print("h2spec: " + tally.group(0))
    sys.exit(0 if tally.group(3) == tally.group(4) == "0" and tally.group(1) != "0" else 1)


if __name__ == "__main__":
    main()
