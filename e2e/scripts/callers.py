#!/usr/bin/env python3
"""Lets real programs do a job each through a running platform: edge, tunnel, router, upstream.

Starts `./culvert demo`, then runs curl, nghttp, h2load, Python's http.client, Node's fetch and http2, the ws package, git and
headless Chromium against it, over HTTP/1.1 and HTTP/2. Prints a line each; exits 1 if one failed. A program that is not
installed is skipped, and said so.

Needs: python3, ./culvert of this repository; the programs, as far as they are there (Debian: curl nghttp2-client nodejs npm
git chromium). Everything stays on 127.0.0.1, but for npm, which fetches ws.
"""
import argparse
import base64
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UPLOAD_BYTES = 5_000_000

NODE_FETCH = """
import dns from 'node:dns';
import { createHash, randomBytes } from 'node:crypto';
dns.lookup = (host, options, done) => options.all ? done(null, [{address: '127.0.0.1', family: 4}]) : done(null, '127.0.0.1', 4);
const body = randomBytes(1 << 20);
const answer = await fetch(process.argv[2] + '/workflows/upload', {method: 'PUT', body});
const told = await answer.json();
if (told.sha256 !== createHash('sha256').update(body).digest('hex')) throw new Error('another sum: ' + JSON.stringify(told));
const events = await fetch(process.argv[2] + '/workflows/api/v1/workflow-events/demo');
const reader = events.body.getReader();
const first = new TextDecoder().decode((await reader.read()).value);
if (!first.includes('data:')) throw new Error('no event: ' + first);
await reader.cancel();
process.exit(0);
"""

NODE_HTTP2 = """
import http2 from 'node:http2';
import tls from 'node:tls';
const [, , origin, host, port] = process.argv;
const session = http2.connect(origin, {createConnection: () => tls.connect({host: '127.0.0.1', port: Number(port), servername: host, ALPNProtocols: ['h2']})});
setTimeout(() => { console.error('no echo in time'); process.exit(1); }, 10000);
session.on('error', e => { console.error(e); process.exit(1); });
session.on('remoteSettings', settings => {
  if (!settings.enableConnectProtocol) throw new Error('no RFC 8441');
  const socket = session.request({':method': 'CONNECT', ':protocol': 'websocket', ':path': '/workflows/ws/echo', 'sec-websocket-version': '13'});
  socket.on('response', head => {
    if (head[':status'] !== 200) throw new Error('status ' + head[':status']);
    const mask = [1, 2, 3, 4];
    socket.write(Buffer.from([0x81, 0x85, ...mask, ...[...Buffer.from('hello')].map((c, i) => c ^ mask[i % 4])]));
  });
  let got = Buffer.alloc(0);
  socket.on('data', data => {
    got = Buffer.concat([got, data]);
    if (got.toString('latin1').endsWith('hello')) process.exit(0);
  });
});
"""

NODE_WS = """
import { createRequire } from 'node:module';
const WebSocket = createRequire(process.argv[5] + '/')('ws');
const [, , origin, host, port] = process.argv;
const socket = new WebSocket(origin.replace('https', 'wss') + '/workflows/ws/echo',
    {lookup: (name, options, done) => options.all ? done(null, [{address: '127.0.0.1', family: 4}]) : done(null, '127.0.0.1', 4)});
const large = Buffer.alloc(60_000, 7); // the demo's echo takes frames up to 64 KiB
let got = 0;
setTimeout(() => { console.error('no echo in time'); process.exit(1); }, 20000);
socket.on('open', () => { socket.send('hello'); socket.send(large); });
socket.on('message', (data, binary) => {
  if (!binary && data.toString() !== 'hello') throw new Error('another text');
  if (binary && !data.equals(large)) throw new Error('other bytes');
  if (++got === 2) socket.close(1000, 'done');
});
socket.on('close', code => { console.error('close code', code); process.exit(code === 1000 ? 0 : 1); });
socket.on('error', e => { console.error(e); process.exit(1); });
"""


class Skipped(Exception):
    pass


class Demo:
    """The platform."""

    def __init__(self, offset):
        self.process = subprocess.Popen([str(ROOT / "culvert"), "demo", "--port-offset", str(offset)],
                                        stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith('{"event":"demo-ready"'):
                ready = json.loads(line)
                break
        else:
            sys.exit("the demo did not start")
        self.host = ready["host"]
        self.port = ready["edge"].rsplit(":", 1)[1]
        self.ca = ready["ca"]
        self.folder = pathlib.Path(ready["dir"])
        self.origin = f"https://{self.host}:{self.port}"
        self.resolve = f"{self.host}:{self.port}:127.0.0.1"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)


def run(*command, seconds=60, **more):
    """What a program printed. It has to end with 0."""
    if shutil.which(command[0]) is None:
        raise Skipped(command[0] + " is not installed")
    done = subprocess.run(command, capture_output=True, timeout=seconds, **more)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def require(condition, told):
    if not condition:
        raise AssertionError(str(told)[:300])


def curl(demo, version):
    body = os.urandom(UPLOAD_BYTES)
    answer = run("curl", "-sS", version, "--cacert", demo.ca, "--resolve", demo.resolve, "-T", "-", "-w", "\n%{http_version}",
                 demo.origin + "/workflows/upload", input=body).decode()
    told, spoken = answer.rsplit("\n", 1)
    require(json.loads(told)["sha256"] == hashlib.sha256(body).hexdigest(), told)
    require(spoken == ("2" if version == "--http2" else "1.1"), spoken)
    return f"{UPLOAD_BYTES} bytes up, HTTP/{spoken}"


def nghttp(demo):
    """It has no --resolve: it dials the address, and names the host in :authority."""
    out = run("nghttp", "-v", "-m", "5", "-H", ":authority: " + f"{demo.host}:{demo.port}",
              f"https://127.0.0.1:{demo.port}/app-proxy/api/info").decode()
    require(out.count(":status: 200") == 5, out)
    return "5 requests on one connection"


def h2load(demo):
    out = run("h2load", "-n", "5000", "-c", "8", "-m", "32", "--connect-to=127.0.0.1:" + demo.port,
              demo.origin + "/app-proxy/api/info").decode()
    require("5000 succeeded, 0 failed" in out and "5000 2xx" in out, out)
    return "5000 requests, 8 connections, 32 streams each"


def python_client(demo):
    tls = ssl.create_default_context(cafile=demo.ca)
    connection = http.client.HTTPSConnection(demo.host, int(demo.port), context=tls)
    connection.sock = tls.wrap_socket(socket.create_connection(("127.0.0.1", int(demo.port)), 10),
                                      server_hostname=demo.host)
    chunks = [os.urandom(70_000) for _ in range(20)]
    for _ in range(3):  # one kept connection, chunked bodies
        connection.request("PUT", "/workflows/upload", body=iter(chunks), encode_chunked=True,
                           headers={"Transfer-Encoding": "chunked"})
        told = json.loads(connection.getresponse().read())
        require(told["sha256"] == hashlib.sha256(b"".join(chunks)).hexdigest(), told)
    connection.close()
    return "3 chunked bodies on one connection"


def node(demo, script, *more):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "caller.mjs"
        file.write_text(script)
        run("node", str(file), demo.origin, demo.host, demo.port, *more, env={**os.environ, "NODE_EXTRA_CA_CERTS": demo.ca})


def node_fetch(demo):
    node(demo, NODE_FETCH)
    return "1 MiB up, an event stream"


def node_http2(demo):
    node(demo, NODE_HTTP2)
    return "a WebSocket on a stream (RFC 8441)"


def node_ws(demo):
    with tempfile.TemporaryDirectory() as folder:
        run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "ws@8", seconds=120)
        node(demo, NODE_WS, folder)
    return "text and binary echoed, closed with 1000"


def git(demo):
    clone = demo.folder / "caller-clone"
    shutil.rmtree(clone, ignore_errors=True)
    run("git", "-c", "http.version=HTTP/2", "-c", "http.curloptResolve=" + demo.resolve, "clone", "-q",
        demo.origin + "/app-proxy/git/demo.git", str(clone), env={**os.environ, "GIT_SSL_CAINFO": demo.ca})
    files = len(list(clone.glob("*.yaml")))
    require(files > 0, "an empty clone")
    return f"{files} files cloned over HTTP/2"


def chromium(demo):
    """Reads JSON as a page; its own trust store is not touched, as the key is pinned for this run."""
    shown = ssl.get_server_certificate(("127.0.0.1", int(demo.port)))
    pin = run("openssl", "x509", "-pubkey", "-noout", input=shown.encode())
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=pin, capture_output=True, check=True).stdout
    key = base64.b64encode(hashlib.sha256(der).digest()).decode()
    with tempfile.TemporaryDirectory() as profile:
        page = run("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   f"--user-data-dir={profile}", f"--host-resolver-rules=MAP {demo.host} 127.0.0.1",
                   f"--ignore-certificate-errors-spki-list={key}", "--dump-dom", demo.origin + "/app-proxy/api/info").decode()
    require('"runtime":"demo/local"' in page.replace("&quot;", '"'), page)
    return "a page"


CALLERS = {
    "curl --http1.1": lambda demo: curl(demo, "--http1.1"),
    "curl --http2": lambda demo: curl(demo, "--http2"),
    "nghttp": nghttp,
    "h2load": h2load,
    "Python http.client": python_client,
    "Node fetch": node_fetch,
    "Node http2": node_http2,
    "Node ws": node_ws,
    "git": git,
    "Chromium": chromium,
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--port-offset", type=int, default=4000)
    demo = Demo(arguments.parse_args().port_offset)
    failed = 0
    try:
        for name, job in CALLERS.items():
            try:
                print(f"ok      {name}: {job(demo)}", flush=True)
            except Skipped as reason:
                print(f"skipped {name}: {reason}", flush=True)
            except (AssertionError, OSError, ValueError, subprocess.SubprocessError) as trouble:
                failed += 1
                print(f"FAILED  {name}: {trouble}", flush=True)
    finally:
        demo.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
