#!/usr/bin/env python3
"""Runs testssl.sh against both listeners of a server that was set up as the documents say.

Makes certificates with `culvert certs init`, starts `culvert server` with its defaults on free ports, and lets testssl.sh
look at the edge and at the tunnel listener, with the authority added to its trust. Prints every finding from LOW up; exits
1 if one is above LOW, or if the tunnel listener serves another version than TLS 1.3. Leaves one thing out: that the
certificates of a private authority name no place to ask about revocation.

Needs: testssl.sh (Debian: testssl.sh), python3, and ./culvert of this repository. Everything stays on 127.0.0.1. Takes a
few minutes.
"""
import argparse
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOMAIN = "tls.culvert.test"
NOT_FINDINGS = {"OK", "INFO", "DEBUG"}
TOLERATED = {"LOW"}  # WARN is not among them: something could not be looked at
TOOL = {"engine_problem"}  # about testssl.sh's own openssl
REVOCATION = {"cert_revocation", "cert_crlDistributionPoints", "cert_ocspURL"}
VERSIONS = ("SSLv2", "SSLv3", "TLS1", "TLS1_1", "TLS1_2", "TLS1_3")
CONFIG = """
edge: { listen: 127.0.0.1:0, domain: %s, tls: { certificate: edge.crt, key: edge.key } }
tunnel: { listen: 127.0.0.1:0, tls: { certificate: tunnel.crt, key: tunnel.key },
          ca: { certificate: ca.crt, key: ca.key } }
admin: { listen: 127.0.0.1:0 }
dataDir: data
"""


def start(folder):
    """The running server with its listening line."""
    subprocess.run([ROOT / "culvert", "certs", "init", "--dir", folder, "--domain", DOMAIN], check=True,
                   stdout=subprocess.DEVNULL)
    config = folder / "server.yaml"
    config.write_text(CONFIG % DOMAIN)
    log = open(folder / "server.log", "w")
    server = subprocess.Popen([ROOT / "culvert", "server", "--config", config], stdout=subprocess.PIPE, stderr=log,
                              text=True)
    for line in server.stdout:
        log.write(line)
        if line.startswith("{") and json.loads(line).get("event") == "listening":
            return server, json.loads(line)
    raise SystemExit("the server did not start; see " + log.name)


def look(testssl, folder, listener, port):
    """What testssl.sh found."""
    report = folder / (listener + ".json")
    text = folder / (listener + ".txt")
    with open(text, "w") as out:
        subprocess.run([testssl, "--quiet", "--color", "0", "--warnings", "off", "--nodns", "none",
                        "--ip", "127.0.0.1", "--add-ca", folder / "ca.crt", "--jsonfile", report,
                        "%s:%d" % (DOMAIN, port)], stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return json.loads(report.read_text())


def judge(listener, findings):
    """Prints what matters; returns the number of findings that are too bad."""
    bad = 0
    counts = {}
    for finding in findings:
        severity = finding["severity"]
        counts[severity] = counts.get(severity, 0) + 1
        if severity in NOT_FINDINGS or finding["id"] in TOOL:
            continue
        excused = finding["id"].split(" ")[0] in REVOCATION
        worse = severity not in TOLERATED and not excused
        bad += worse
        print("%-7s%-9s%s: %s%s" % (listener, severity, finding["id"], finding["finding"],
                                    " (a private authority)" if excused else ""))
    versions = [f["id"] for f in findings
                if f["id"] in VERSIONS and f["finding"].startswith("offered")]
    print("%-7s%d results: %s; serves %s" % (
        listener, len(findings), ", ".join("%d %s" % (n, s) for s, n in sorted(counts.items())), ", ".join(versions)))
    if not {"TLS1_3"} <= set(versions):
        print("%-7sTLS 1.3 was not seen: testssl.sh could not look properly" % listener)
        bad += 1
    if listener == "tunnel" and versions != ["TLS1_3"]:
        print("tunnel serves more than TLS 1.3")
        bad += 1
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", metavar="DIR", help="write certificates, logs and reports there, and keep them")
    arguments = parser.parse_args()
    testssl = shutil.which("testssl") or shutil.which("testssl.sh")
    if not testssl:
        raise SystemExit("testssl.sh is not installed")
    folder = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="tls-check-")).resolve()
    server, listening = start(folder)
    try:
        bad = sum(judge(name, look(testssl, folder, name, int(listening[name].rsplit(":", 1)[1])))
                  for name in ("edge", "tunnel"))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    if not arguments.keep:
        shutil.rmtree(folder)
    print("FAILED: %d findings above LOW" % bad if bad else "ok: no finding above LOW")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
