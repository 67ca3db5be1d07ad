"""What the real programs of interop.py do. A job takes a Place and returns points: a name and what was seen, as JSON holds
it. What a program sees straight and through the tunnel has to be the same."""
import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import tarfile
import threading
import time

from programs.servers import FOLDER, need

# Fields of one connection, or of one answer; Apache tells an h2 Upgrade to HTTP/1.1 callers.
NOT_COMPARED = {"date", "connection", "keep-alive", "transfer-encoding", "upgrade"}
# What Culvert adds to a request on its way.
ADDED = {"forwarded", "via", "x-request-id", "traceparent", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host",
         "x-forwarded-port"}
PUSH_BYTES = 24 << 20
LAYER_BYTES = 20 << 20


class Place:
    """One of the two ways to a server. name: straight or through; port: the server's or the edge's."""

    def __init__(self, name, host, port, folder, certificates, modules):
        self.name = name
        self.host = host
        self.port = port
        self.authority = f"{host}:{port}"
        self.origin = f"https://{self.authority}"
        self.folder = folder
        self.ca = certificates / "ca.crt"
        self.modules = modules

    def neutral(self, text):
        """The text without what names this place."""
        own = {self.authority: "HOST", str(self.folder): "FOLDER", str(self.port): "PORT", self.name: "PLACE"}
        for mine, word in own.items():
            text = text.replace(mine, word)
        return text


def run(*command, seconds=180, **more):
    """Runs a program to its end, whatever that is."""
    need(command[0])
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, **more)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# --- Git ---

def git(folder, *words, settings=(), **more):
    own = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    own |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    for who in ("AUTHOR", "COMMITTER"):
        own |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@interop.test", f"GIT_{who}_DATE": "2026-01-01T00:00:00Z"}
    way = [word for setting in ("init.defaultBranch=main", *settings) for word in ("-c", setting)]
    return run("git", *way, *words, cwd=folder, env=own, **more)


def git_seed(folder, repositories):
    """A repository of 300 commits, and a copy of it for each version of HTTP and place, to push into."""
    need("git")
    work = folder / "git-seed"
    work.mkdir()
    git(work, "init", "-q")
    for number in range(300):
        (work / f"file-{number % 60}").write_text(f"{number}\n" * 2000)
        git(work, "add", ".")
        git(work, "commit", "-q", "-m", f"commit {number}")
    for number in range(400):  # a fetch that lacks these sends a long, gzipped request
        git(work, "branch", f"branch-{number}", f"HEAD~{number % 290}")
    (folder / "push.bin").write_bytes(os.urandom(PUSH_BYTES))
    for version in ("1.1", "2"):
        for place in ("straight", "through"):
            bare = repositories / f"{version}-{place}.git"
            git(folder, "clone", "-q", "--bare", work, bare)
            for setting in ("http.receivepack", "uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
                git(bare, "config", setting, "true")


def git_job(place, version):
    url = f"{place.origin}/git/{version}-{place.name}.git"
    way = (f"http.version=HTTP/{version}", f"http.sslCAInfo={place.ca}")

    def told(folder, *words, settings=()):
        done = git(folder, *words, settings=(*way, *settings))
        text = done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")
        return [done.returncode] + ([re.sub(r"[\d.]+ .iB.*", "", place.neutral(text))[-300:]] if done.returncode else [])

    def state(at):
        counted = git(at, "rev-list", "--objects", "--all", "--count", "--missing=allow-any").stdout.decode().strip()
        head = git(at, "rev-parse", "HEAD").stdout.decode().strip()
        return [head, counted, git(at, "fsck", "--full", "--no-progress").returncode]

    points = {}
    at = place.folder
    points["ls-remote"] = sha256(git(at, "ls-remote", url, settings=way).stdout)
    for name, words in {"clone": (), "clone, protocol 0": ("-c", "protocol.version=0"), "clone, 5 deep": ("--depth", "5"),
                        "clone without blobs": ("--filter=blob:none",), "mirror": ("--mirror",)}.items():
        target = at / re.sub(r"\W+", "-", name)
        points[name] = told(at, "clone", "-q", *words, url, target) + state(target)
    points["deepen"] = told(at / "clone-5-deep", "fetch", "-q", "--unshallow") + state(at / "clone-5-deep")
    lazy = at / "clone-without-blobs"
    points["blobs when asked for"] = told(lazy, "log", "-p", "-5", "--stat") + state(lazy)
    clone = at / "clone"
    shutil.copy(at.parent.parent / "push.bin", clone / "push.bin")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "24 MiB")
    points["push of 24 MiB"] = told(clone, "push", "-q", "origin", "main") + state(clone)
    points["fetch of what was pushed"] = told(at / "clone-protocol-0", "pull", "-q") + state(at / "clone-protocol-0")
    points["push of 200 branches"] = told(clone, "push", "-q", "origin", *(f"HEAD:refs/heads/new-{n}" for n in range(200)))
    points["delete a branch"] = told(clone, "push", "-q", "origin", ":new-7")
    git(clone, "reset", "-q", "--hard", "HEAD~3")
    git(clone, "commit", "-q", "--allow-empty", "-m", "other")
    points["push that is no fast-forward"] = told(clone, "push", "-q", "origin", "main")[:1]
    points["forced push"] = told(clone, "push", "-q", "--force", "origin", "main")
    points["no such repository"] = told(at, "ls-remote", url + "x.git")
    points["ls-remote at the end"] = sha256(git(at, "ls-remote", url, settings=way).stdout)
    return points


# --- curl ---

def curl_files(files):
    (files / "folder").mkdir()
    (files / "folder" / "index.html").write_text("<p>index</p>")
    (files / "text.txt").write_text("compress me\n" * 10_000)
    (files / "large.bin").write_bytes(os.urandom(20 << 20))
    (files / "a b ä.txt").write_text("name")
    for path in files.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


def curl(place, version, path, *words, body=None, seconds=60):
    """What curl saw: statuses, fields, the answer's sum."""
    head, answer = place.folder / "head", place.folder / "answer"
    for old in (head, answer):
        old.unlink(missing_ok=True)
    done = run("curl", "-sS", "--noproxy", "*", "--http" + version, "--cacert", place.ca, "-m", seconds, "-D", head, "-o",
               answer, "-w", "%{http_code} HTTP/%{http_version} redirects:%{num_redirects}", *words, place.origin + path,
               input=body)
    lines = place.neutral(head.read_text(errors="replace") if head.exists() else "").splitlines()
    fields = sorted([name.lower(), value] for name, value in re.findall(r"^([\w-]+): *(.*)$", "\n".join(lines), re.M)
                    if name.lower() not in NOT_COMPARED)
    data = answer.read_bytes() if answer.exists() and "-I" not in words else b""
    if "-I" not in words:  # a right length is a matter of framing: Node tells it over HTTP/1.1 and not over HTTP/2
        fields = [one for one in fields if one != ["content-length", str(len(data))]]
    neutral = place.neutral(data.decode("latin1"))
    seen = {"exit": done.returncode, "told": done.stdout.decode(), "fields": fields, "bytes": len(data),
            "statuses": [line.split()[1] for line in lines if line.startswith("HTTP/")]}
    try:
        told = json.loads(data)
        added = set(told["fields"]) & ADDED
        told["fields"] = {name: place.neutral(value if isinstance(value, str) else ", ".join(value))
                          for name, value in told["fields"].items() if name not in ADDED}
        told["host"] = place.neutral(told["host"])
        if "-F" in words:  # curl's boundary is random
            told["fields"]["content-type"] = re.sub(r"-{20,}\w+", "BOUNDARY", told["fields"]["content-type"])
            del told["sha256"]
        seen["echo"] = told
        del seen["bytes"]
        if place.name == "through" and added != ADDED - ({"x-request-id"} - added):
            seen["not added"] = sorted(ADDED - added)
    except (ValueError, KeyError, TypeError):
        seen["sha256"] = sha256(neutral.encode("latin1"))
    return seen


def of_fields(*fields):
    return [word for field in fields for word in ("-H", field)]


FILE_POINTS = {
    "file of 20 MiB": ("/files/large.bin",),
    "HEAD": ("/files/large.bin", "-I"),
    "range": ("/files/large.bin", "-r", "1000-70000"),
    "last bytes": ("/files/large.bin", "-r", "-5"),
    "range that is not there": ("/files/large.bin", "-r", "99999999-"),
    "not modified since": ("/files/text.txt", "-H", "If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT"),
    "If-None-Match: *": ("/files/text.txt", "-H", "If-None-Match: *"),
    "If-Match that fails": ("/files/text.txt", "-H", 'If-Match: "other"'),
    "If-Range that fails": ("/files/text.txt", "-r", "0-9", "-H", 'If-Range: "other"'),
    "gzip": ("/files/text.txt", "-H", "Accept-Encoding: gzip"),
    "gzip, decoded": ("/files/text.txt", "--compressed"),
    "redirect to the folder": ("/files/folder", "-L"),
    "name with blanks and UTF-8": ("/files/a%20b%20%C3%A4.txt",),
    "404": ("/files/none",),
    "405": ("/files/text.txt", "-X", "DELETE"),
    "OPTIONS": ("/dav/", "-X", "OPTIONS"),
    "query that is empty": ("/files/text.txt?",),
}
WEB_POINTS = {
    "echo": ("/web/echo/a?b=c&d",),
    "target with //, ; and %2F": ("/web/echo//x;y=1/%2F%41/?a=%00&b=/../", "--path-as-is"),
    "target of 8 KiB": ("/web/echo/" + "t" * 8000,),
    "own method": ("/web/echo/a", "-X", "REPORT"),
    "POST": ("/web/echo/a", "-d", "a=b"),
    "empty POST": ("/web/echo/a", "-X", "POST", "-d", ""),
    "DELETE with a body": ("/web/echo/a", "-X", "DELETE", "-d", "body"),
    "form with a file": ("/web/echo/a", "-F", "file=@/etc/hosts;filename=x", "-F", "text=ä"),
    "fields: empty, double, UTF-8, cookies": ("/web/echo/a", *of_fields("X-Empty;", "X-Two: 1", "X-Two: 2", "X-Text: ä€",
                                                                        "Cookie: a=1; b=2", "Authorization: Bearer x")),
    "50 fields of 200 bytes": ("/web/echo/a", *of_fields(*(f"X-{n}: {'v' * 200}" for n in range(50)))),
    "early hints (103)": ("/web/hints",),
    "trailers": ("/web/trailers",),
    "cookies set": ("/web/cookies",),
    "large head": ("/web/heads",),
    "gzip": ("/web/gzip",),
    "gzip, HEAD": ("/web/gzip", "-I"),
    "streamed": ("/web/stream",),
    "event stream": ("/web/events", "-H", "Accept: text/event-stream"),
    "redirect 302": ("/web/redirect/302", "-L"),
    "redirect 308 of a POST": ("/web/redirect/308", "-L", "-d", "kept"),
    **{f"status {status}": (f"/web/status/{status}",)
       for status in (200, 201, 204, 205, 304, 401, 403, 418, 429, 451, 500, 502, 503, 599)},
    "dot segments": ("/web/x/../echo/a", "--path-as-is"),
    "TRACE": ("/web/echo/a", "-X", "TRACE"),
    "an Upgrade to SPDY": ("/web/echo/a", "-H", "Connection: Upgrade", "-H", "Upgrade: SPDY/3.1", "-m", "3"),
}


def curl_apache(place, version):
    points = {name: curl(place, version, *words) for name, words in FILE_POINTS.items()}
    put = place.folder.parent.parent / "files" / "large.bin"
    target = f"/dav/curl-{version}"
    points["MKCOL"] = curl(place, version, target + "/", "-X", "MKCOL")
    points["PUT of 20 MiB"] = curl(place, version, target + "/put", "-T", put)
    points["PUT, Expect: 100-continue"] = curl(place, version, target + "/expect", "-T", put, "-H", "Expect: 100-continue")
    points["PUT, length unknown"] = curl(place, version, target + "/pipe", "-T", "-", body=put.read_bytes())
    points["what was put"] = [curl(place, version, f"{target}/{name}")["sha256"] for name in ("put", "expect", "pipe")]
    points["PROPFIND"] = curl(place, version, target + "/", "-X", "PROPFIND", "-H", "Depth: 1")["statuses"]
    moved = f"Destination: {place.origin}{target}/moved"
    points["MOVE"] = curl(place, version, target + "/pipe", "-X", "MOVE", "-H", moved)
    points["DELETE"] = curl(place, version, target + "/", "-X", "DELETE")
    return points


def curl_web(place, version):
    points = {name: curl(place, version, *words) for name, words in WEB_POINTS.items()}
    many = curl(place, version, "/web/echo/[1-100]", "-Z", "--parallel-max", "100", "-w",
                "%{http_code} HTTP/%{http_version}\n")
    points["100 at once"] = [many["exit"], many["told"]]
    refused = curl(place, version, "/web/refuse", "-X", "POST", "-T", "-", body=bytes(20 << 20))
    points["refused upload of 20 MiB"] = refused["statuses"][-1:]
    return points


# --- Images ---

def image(folder):
    """An OCI image with a layer of 20 MiB and a small one."""
    need("skopeo")
    top = folder / "image"
    blobs = top / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def blob(data, kind):
        digest = sha256(data)
        (blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": "sha256:" + digest, "size": len(data)}

    layers, diffs = [], []
    for name, size in (("large", LAYER_BYTES), ("small", 2000)):
        (folder / name).write_bytes(os.urandom(size))
        with tarfile.open(folder / "layer.tar", "w") as tar:
            tar.add(folder / name, name)
        data = (folder / "layer.tar").read_bytes()
        layers.append(blob(data, "layer.v1.tar"))
        diffs.append("sha256:" + sha256(data))
    config = blob(json.dumps({"architecture": "amd64", "os": "linux", "created": "2026-01-01T00:00:00Z", "config": {},
                              "rootfs": {"type": "layers", "diff_ids": diffs}}).encode(), "config.v1+json")
    manifest = blob(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                                "config": config, "layers": layers}).encode(), "manifest.v1+json")
    manifest["annotations"] = {"org.opencontainers.image.ref.name": "1"}
    (top / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
    (top / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


def skopeo_job(place):
    trust = place.folder / "trust"
    trust.mkdir()
    shutil.copy(place.ca, trust / "ca.crt")
    source = f"oci:{place.folder.parent.parent / 'image'}:1"
    ours = f"docker://{place.authority}/{place.name}"

    def skopeo(*words):
        done = run("skopeo", "--insecure-policy", "--tmpdir", place.folder, *words)
        out = place.neutral(done.stdout.decode())
        error = re.sub(r'time="[^"]*" ', "", place.neutral(done.stderr.decode()))
        return [done.returncode, error] if done.returncode else [0, out if out.startswith(("{", "[")) else ""]

    here, into, out_of = ("--cert-dir", trust), ("--dest-cert-dir", trust), ("--src-cert-dir", trust)
    within = (*out_of, *into)
    points = {
        "copy to the registry": skopeo("copy", *into, source, ours + "/app:1"),
        "the same again": skopeo("copy", *into, source, ours + "/app:2"),
        "inspect": skopeo("inspect", *here, ours + "/app:1"),
        "inspect --raw": skopeo("inspect", "--raw", *here, ours + "/app:1"),
        "inspect --config": skopeo("inspect", "--config", *here, ours + "/app:1"),
        "list-tags": skopeo("list-tags", *here, ours + "/app"),
        "copy within the registry": skopeo("copy", *within, ours + "/app:1", ours + "/other:1"),
        "copy as Docker's format": skopeo("copy", "--format", "v2s2", *within, ours + "/app:1", ours + "/docker:1"),
        "copy from the registry": skopeo("copy", *out_of, ours + "/other:1", f"dir:{place.folder / 'copied'}"),
        "delete": skopeo("delete", *here, ours + "/docker:1"),
        "inspect what was deleted": skopeo("inspect", *here, ours + "/docker:1"),
        "no such image": skopeo("inspect", *here, ours + "/none:1"),
    }
    copied = place.folder / "copied"
    files = copied.iterdir() if copied.exists() else ()
    points["what was copied"] = sorted([path.name, sha256(path.read_bytes())] for path in files)
    return points


# --- WebDAV ---

def litmus_job(place):
    need("litmus")
    done = run("litmus", "-k", place.origin + "/dav/", cwd=place.folder, seconds=300, env={**os.environ, "LC_ALL": "C"})
    text = place.neutral(done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace"))
    points, suite = {}, "?"
    for line in text.replace("\r", "\n").splitlines():
        if running := re.match(r"-> running `(\w+)'", line):
            suite = running[1]
        elif test := re.match(r"\s*(\d+)\. (\w+)\.*\s+(pass|FAIL|SKIPPED|WARNING.*|.*)", line):
            if test[3].strip():
                points[f"{suite} {test[1]} {test[2]}"] = test[3].strip()
    if len(points) < 50:
        raise AssertionError(f"litmus told only {len(points)} tests: {text[-300:]}")
    return points


# --- Programs of Node and the browser ---

def node_points(place, *words):
    trusting = {**os.environ, "NODE_EXTRA_CA_CERTS": str(place.ca)}
    done = run("node", FOLDER / words[0], place.modules, "call", *words[1:], env=trusting)
    if done.returncode:
        raise AssertionError(place.neutral(done.stderr.decode(errors="replace"))[-500:])
    return json.loads(done.stdout.decode())


def sockets_job(place):
    return node_points(place, "sockets.mjs", place.origin)


def grpc_job(place):
    return node_points(place, "grpc.mjs", place.authority, place.ca)


def browser(place, web):
    """The page tells its points to the server that it came from."""
    need("chromium", "openssl")
    shown = ssl.get_server_certificate((place.host, place.port))
    key = run("openssl", "x509", "-pubkey", "-noout", input=shown.encode()).stdout
    der = run("openssl", "pkey", "-pubin", "-outform", "der", input=key).stdout
    pin = base64.b64encode(hashlib.sha256(der).digest()).decode()
    lines = []
    reader = threading.Thread(target=lambda: lines.append(web.process.stdout.readline()), daemon=True)
    reader.start()
    with open(place.folder / "chromium.log", "w") as log:
        process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--no-proxy-server", f"--user-data-dir={place.folder / 'profile'}",
             f"--ignore-certificate-errors-spki-list={pin}", place.origin + "/web/page"],
            stdout=log, stderr=log, start_new_session=True)
        try:
            reader.join(120)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
    if not lines or not lines[0].strip():
        raise AssertionError(f"the page told nothing within 120 s; see {log.name}")
    return json.loads(place.neutral(lines[0]))
