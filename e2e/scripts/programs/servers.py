"""The real servers that interop.py asks, each with TLS and the edge's certificate: Apache (files, WebDAV, Git),
docker-registry, and programs on Node."""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import time

from parts import free_port

FOLDER = pathlib.Path(__file__).resolve().parent
MODULES = pathlib.Path("/usr/lib/apache2/modules")
APACHE_MODULES = ("mpm_event authz_core dir mime env alias cgid filter deflate headers ssl socache_shmcb http2 dav dav_fs "
                  "dav_lock").split()
USER = "www-data"  # Apache does not run as root


class Missing(Exception):
    """A program that is not installed."""


def need(*programs):
    for program in programs:
        if shutil.which(program) is None and not pathlib.Path(program).exists():
            raise Missing(f"{program} is not installed")


class Server:
    """A process that listens on a port of 127.0.0.1."""

    def __init__(self, name, folder, command, port=None):
        self.log = open(folder / (name + ".log"), "a")
        self.process = subprocess.Popen(command, stdout=self.log if port else subprocess.PIPE, stderr=self.log, text=True)
        if port is None:  # it tells
            line = self.process.stdout.readline()
            if not line.strip().isdigit():
                sys.exit(f"{name} did not start; see {self.log.name}")
            port = int(line)
        self.port = port
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        self.end()
        sys.exit(f"{name} did not start; see {self.log.name}")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()


def apache(folder, host, certificates, files, dav, repositories):
    """Serves files at /files/, WebDAV at /dav/, and Git at /git/."""
    backend = "/usr/lib/git-core/git-http-backend"
    need("apache2", backend)
    missing = [name for name in APACHE_MODULES if not (MODULES / f"mod_{name}.so").exists()]
    if missing:
        raise Missing(f"Apache's modules {', '.join(missing)} are not installed")
    root = folder / "apache"
    root.mkdir()
    port = free_port()
    as_user = ""
    if os.geteuid() == 0:
        as_user = f"User {USER}\nGroup {USER}\n"
        user = pwd.getpwnam(USER)
        for top in (root, files, dav, repositories):
            for path in (top, *top.rglob("*")):
                os.chown(path, user.pw_uid, user.pw_gid)
        folder.chmod(0o755)
    loads = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in APACHE_MODULES)
    config = root / "apache.conf"
    config.write_text(f"""\
{loads}
ServerRoot {root}
DefaultRuntimeDir {root}
PidFile {root}/apache.pid
ScriptSock {root}/cgid.sock
ErrorLog {root}/error.log
TypesConfig /etc/mime.types
DavLockDB {root}/locks
{as_user}Listen 127.0.0.1:{port}
ServerName https://{host}:{port}
Protocols h2 http/1.1
SSLEngine on
SSLCertificateFile {certificates}/edge.crt
SSLCertificateKeyFile {certificates}/edge.key
AddOutputFilterByType DEFLATE text/plain
Alias /files/ {files}/
Alias /dav/ {dav}/
ScriptAlias /git/ {backend}/
SetEnv GIT_PROJECT_ROOT {repositories}
SetEnv GIT_HTTP_EXPORT_ALL
SetEnv GIT_CONFIG_COUNT 1
SetEnv GIT_CONFIG_KEY_0 safe.directory
SetEnv GIT_CONFIG_VALUE_0 *
PassEnv PATH
<Directory {folder}>
  Require all granted
</Directory>
<Directory /usr/lib/git-core>
  Require all granted
  Options +ExecCGI
</Directory>
<Directory {dav}>
  Dav On
</Directory>
""")
    return Server("apache", folder, ["apache2", "-f", str(config), "-DFOREGROUND"], port)


def registry(folder, host, certificates):
    """docker-registry with its files below the folder."""
    need("docker-registry")
    port = free_port()
    config = folder / "registry.yaml"
    config.write_text(f"""\
version: 0.1
storage: {{ filesystem: {{ rootdirectory: {folder}/registry }}, delete: {{ enabled: true }} }}
http: {{ addr: "127.0.0.1:{port}", tls: {{ certificate: {certificates}/edge.crt, key: {certificates}/edge.key }} }}
""")
    return Server("registry", folder, ["docker-registry", "serve", str(config)], port)


def node(folder, name, modules, *arguments):
    """A program of this folder on Node. It prints its port."""
    need("node")
    if modules is None:
        raise Missing("npm is not installed")
    return Server(name, folder, ["node", str(FOLDER / f"{name}.mjs"), str(modules), *map(str, arguments)])
