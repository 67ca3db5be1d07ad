#!/usr/bin/env python3
"""Development servers as they are started by default, through culvert http --host-header rewrite.

Vite and webpack-dev-server (no allowed hosts), Jupyter (log-in by token), Django (ALLOWED_HOSTS = []): of each a page,
a redirect and, where it has one, a WebSocket. Without --host-header each refuses the public host, which is shown first.

Needs: python3, ./culvert of this repository, node with npm, Debian's jupyter-notebook and python3-django. A server that
is not there is named and counts as failed. --packages is a folder with vite/node_modules and webpack/node_modules, else
npm installs them in a temporary one. Everything stays on 127.0.0.1.
"""
import argparse
import base64
import contextlib
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from parts import DONE, FAILED, Part, check, culvert, free_port

DOMAIN = "dev.test"
HOST = "acme-laptop." + DOMAIN


class Server:
    """A process that listens on a port of 127.0.0.1 or ::1."""

    def __init__(self, folder, port, command, **environment):
        self.port = port
        self.log = open(folder / "server.log", "w")
        self.process = subprocess.Popen(command, cwd=folder, stdout=self.log, stderr=subprocess.STDOUT,
                                        env={**os.environ, **environment}, start_new_session=True)
        until = time.monotonic() + 90
        while not self.listens():
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError(f"it does not listen: {pathlib.Path(self.log.name).read_text()[-400:]}")
            time.sleep(0.2)

    def listens(self):
        for address in ("127.0.0.1", "::1"):
            with contextlib.suppress(OSError), socket.create_connection((address, self.port), 1):
                return True
        return False

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(15)


class Edge:
    """A tunnel server with a stored connection, and calls through its edge as a browser makes them."""

    def __init__(self, folder):
        self.folder = folder
        self.edge, self.tunnel, self.admin = (free_port() for _ in range(3))
        culvert("certs", "init", "--dir", folder / "certs", "--domain", DOMAIN)
        (folder / "server.yaml").write_text(f"""\
edge: {{ listen: 127.0.0.1:{self.edge}, domain: {DOMAIN}, tls: {{ certificate: certs/edge.crt, key: certs/edge.key }} }}
tunnel:
  listen: 127.0.0.1:{self.tunnel}
  tls: {{ certificate: certs/tunnel.crt, key: certs/tunnel.key }}
  ca: {{ certificate: certs/ca.crt, key: certs/ca.key }}
admin: {{ listen: 127.0.0.1:{self.admin}, tokenFile: admin.token }}
dataDir: data
""")
        self.server = Part("server", folder, "server", "--config", str(folder / "server.yaml"))
        self.server.wait('"event":"listening"')
        os.environ["XDG_DATA_HOME"] = str(folder / "stored")
        culvert("runtime", "create", "acme", "laptop", "--token-file", folder / "token", "--admin",
                f"http://127.0.0.1:{self.admin}", "--admin-token-file", folder / "admin.token")
        culvert("connect", f"wss://localhost:{self.tunnel}", "--token-file", folder / "token")
        self.origin = f"https://{HOST}:{self.edge}"

    def connection(self):
        context = ssl.create_default_context(cafile=self.folder / "certs/ca.crt")
        plain = socket.create_connection(("127.0.0.1", self.edge), 30)
        return context.wrap_socket(plain, server_hostname=HOST)

    def call(self, path, method="GET", body=None, **fields):
        """Status, fields and body of an answer."""
        connection = http.client.HTTPConnection(HOST, self.edge)
        connection.sock = self.connection()
        try:
            connection.request(method, path, body, {"Host": f"{HOST}:{self.edge}", **fields})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def upgraded(self, path, protocol=None, cookie=None):
        """The status line of a WebSocket's handshake, and whether a frame followed a ping or by itself."""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {HOST}:{self.edge}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", f"Origin: {self.origin}"]
        lines += [f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []
        lines += [f"Cookie: {cookie}"] if cookie else []
        with self.connection() as tls:
            tls.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            tls.settimeout(10)
            received = b""
            while b"\r\n\r\n" not in received:
                piece = tls.recv(65536)
                if not piece:
                    break
                received += piece
            head, _, rest = received.partition(b"\r\n\r\n")
            if b" 101 " in head:
                tls.sendall(b"\x89\x80" + b"\0\0\0\0")  # a ping, masked
                with contextlib.suppress(OSError):
                    rest = rest or tls.recv(65536)
            return head.split(b"\r\n")[0].decode(), bool(rest)


@contextlib.contextmanager
def exposed(edge, name, port, *options):
    part = Part(f"http-{name}-{len(DONE)}", edge.folder, "http", str(port), *options)
    try:
        part.wait(" leads to ")
        yield
    finally:
        part.end()


def judge(edge, name, server, checks, path="/"):
    """What a server answers without --host-header, then its checks with it."""
    try:
        with exposed(edge, name, server.port):
            check(f"{name}: without --host-header the public host is refused", is_forbidden(edge.call(path)))
        with exposed(edge, name, server.port, "--host-header", "rewrite"):
            for what, judged in checks:
                try:
                    seen = judged()
                    check(f"{name}: {what}", seen is True, str(seen))
                except (OSError, http.client.HTTPException) as e:
                    check(f"{name}: {what}", False, repr(e))
    finally:
        server.end()


def is_forbidden(answer):
    return answer[0] in (400, 403)


def true_or(shown, judged):
    return True if judged else shown


def installed(packages, name, modules, folder):
    """The folder of a package with these modules."""
    if packages:
        shutil.copytree(pathlib.Path(packages) / name, folder, symlinks=True, dirs_exist_ok=True)
    else:
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *modules], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)


def vite(edge, packages, folder):
    (folder / "package.json").write_text('{"type":"module"}')
    installed(packages, "vite", ["vite@8"], folder)
    (folder / "package.json").write_text('{"type":"module"}')
    (folder / "index.html").write_text('<!doctype html><title>vite here</title><script type="module" src="/a.js"></script>')
    (folder / "a.js").write_text("console.log(1)\n")
    (folder / "vite.config.js").write_text("""export default { plugins: [{ name: 'r', configureServer(s) {
  s.middlewares.use('/moved', (q, a) => { a.statusCode = 302
    a.setHeader('Location', 'http://' + q.headers.host + '/new'); a.end() }) } }] }
""")
    port = free_port()
    server = Server(folder, port, ["node_modules/.bin/vite", "--port", str(port), "--strictPort"])

    def hot():
        token = re.search(r'wsToken = "([^"]+)"', edge.call("/@vite/client")[2])
        status, frame = edge.upgraded(f"/?token={token.group(1) if token else ''}", "vite-hmr")
        return true_or((status, frame), " 101 " in status and frame)

    judge(edge, "vite", server, [
        ("a page", lambda: true_or(*(lambda a: (a, a[0] == 200 and "vite here" in a[2]))(edge.call("/")))),
        ("a WebSocket", hot),
        ("a redirect", lambda: true_or(*(lambda a: (str(a[1]), a[1]["Location"] == edge.origin + "/new"))(
            edge.call("/moved"))))])


def webpack(edge, packages, folder):
    (folder / "package.json").write_text("{}")
    installed(packages, "webpack", ["webpack", "webpack-cli", "webpack-dev-server"], folder)
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src/index.js").write_text("console.log(1)\n")
    (folder / "public").mkdir(exist_ok=True)
    (folder / "public/index.html").write_text("<!doctype html><title>webpack here</title>")
    (folder / "webpack.config.js").write_text("""module.exports = { mode: 'development', devServer: {
  setupMiddlewares(all, s) { s.app.get('/moved', (q, a) => a.redirect('http://' + q.headers.host + '/new')); return all } } }
""")
    port = free_port()
    server = Server(folder, port, ["node_modules/.bin/webpack", "serve", "--port", str(port), "--no-open"])

    def hot():
        status, frame = edge.upgraded("/ws")
        return true_or((status, frame), " 101 " in status and frame)

    judge(edge, "webpack", server, [
        ("a page", lambda: true_or(*(lambda a: (a, a[0] == 200 and "webpack here" in a[2]))(edge.call("/")))),
        ("a WebSocket", hot),
        ("a redirect", lambda: true_or(*(lambda a: (str(a[1]), a[1]["Location"] == edge.origin + "/new"))(
            edge.call("/moved"))))])


def jupyter(edge, _, folder):
    port = free_port()
    server = Server(folder, port, ["jupyter-notebook", "--no-browser", "--allow-root", f"--port={port}",
                                   "--NotebookApp.token=secret-of-the-test", "--NotebookApp.port_retries=0"])
    session = []

    def log_in():
        for path in ("/tree?token=secret-of-the-test", "/tree"):
            status, fields, body = edge.call(path, Cookie="; ".join(session))
            session.extend(value.split(";")[0] for value in fields.get_all("Set-Cookie") or [])
        return true_or((status, body[:200]), status == 200 and "jupyter" in body.lower())

    def channel():
        cookie = "; ".join(session)
        xsrf = next((each.split("=", 1)[1] for each in session if each.startswith("_xsrf=")), "")
        status, _, body = edge.call("/api/kernels", "POST", "{}", Cookie=cookie, Origin=edge.origin,
                                    **{"Content-Type": "application/json", "X-XSRFToken": xsrf})
        kernel = re.search(r'"id": ?"([^"]+)"', body)
        if not kernel:
            return status, body[:300]
        line, frame = edge.upgraded(f"/api/kernels/{kernel.group(1)}/channels", cookie=cookie)
        return true_or((line, frame), " 101 " in line and frame)

    judge(edge, "jupyter", server, [
        ("a page behind its log-in", log_in),
        ("a WebSocket of a kernel, whose Origin it compares", channel),
        ("a redirect", lambda: true_or(*(lambda a: (str(a[1]), a[0] == 302 and not re.search(
            "127.0.0.1|localhost", a[1]["Location"])))(edge.call("/tree"))))], path="/tree")


def django(edge, _, folder):
    port = free_port()
    subprocess.run([sys.executable if has_django(sys.executable) else "/usr/bin/python3", "-m", "django", "startproject", "site1",
                    "."], cwd=folder, check=True)
    (folder / "site1/urls.py").write_text("""from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path
def moved(request): return HttpResponseRedirect(request.build_absolute_uri('/new'))
def page(request): return HttpResponse('django here ' + request.get_host())
urlpatterns = [path('', page), path('moved', moved)]
""")
    server = Server(folder, port, ["/usr/bin/python3", "manage.py", "runserver", f"127.0.0.1:{port}", "--noreload"])
    judge(edge, "django", server, [
        ("a page", lambda: true_or(*(lambda a: (a, a[0] == 200 and "django here localhost" in a[2]))(edge.call("/")))),
        ("a redirect", lambda: true_or(*(lambda a: (str(a[1]), a[1]["Location"] == edge.origin + "/new"))(
            edge.call("/moved"))))])


def has_django(python):
    return subprocess.run([python, "-c", "import django"], stderr=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", help="a folder with vite/node_modules and webpack/node_modules")
    parser.add_argument("--only", default="vite,webpack,jupyter,django")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dev-servers-"))
    edge = Edge(folder)
    try:
        for server in (vite, webpack, jupyter, django):
            if server.__name__ in options.only.split(","):
                own = folder / server.__name__
                own.mkdir()
                try:
                    server(edge, options.packages, own)
                except (OSError, RuntimeError, subprocess.CalledProcessError) as e:
                    check(f"{server.__name__}: it starts", False, str(e))
    finally:
        edge.server.end()
    if not FAILED:
        shutil.rmtree(folder)
    sys.exit(f"{len(FAILED)} of {len(DONE)} failed: see {folder}" if FAILED else None)


if __name__ == "__main__":
    main()
