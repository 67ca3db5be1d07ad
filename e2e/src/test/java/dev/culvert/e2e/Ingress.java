package dev.culvert.e2e;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.config.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;

/** An ingress controller of Debian's, with its configuration of deploy/ingress but for addresses and files. */
final class Ingress implements AutoCloseable {
    private static final Path EXAMPLES = Path.of("..", "deploy", "ingress");
    private static final List<String> PLACES = List.of("/usr/sbin/", "/usr/local/sbin/", "/usr/bin/");

    private final Process process;
    private final int port;

    private Ingress(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    int port() {
        return port;
    }

    /** nginx; skips the test where there is none. */
    static Ingress nginx(Path folder, HostPort router) throws IOException {
        String program = program("nginx");
        int port = freePort();
        Path config = Files.writeString(folder.resolve("nginx.conf"),
                Files.readString(EXAMPLES.resolve("nginx.conf"))
                        .replace("worker_processes auto;", "worker_processes 1;")
                        .replace("access_log off;", "access_log off;\n" + temporary(folder))
                        .replace("internal-router:8080", router.toString())
                        .replace("listen 443 ", "listen 127.0.0.1:" + port + " ")
                        .replace("/etc/nginx/tls.crt", folder.resolve("edge.crt").toString())
                        .replace("/etc/nginx/tls.key", folder.resolve("edge.key").toString()));
        return start(folder, port, List.of(program, "-p", folder.toString(), "-e", "nginx.log", "-c",
                config.toString(), "-g", "daemon off; pid " + folder.resolve("nginx.pid") + ";"));
    }

    /** What it writes on its own account goes into the folder of the test. */
    private static String temporary(Path folder) {
        StringBuilder lines = new StringBuilder();
        for (String kind : List.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) {
            lines.append("    ")
                    .append(kind)
                    .append("_temp_path ")
                    .append(folder.resolve(kind))
                    .append(";\n");
        }
        return lines.toString();
    }

    /** HAProxy, with the example of this name; skips the test where there is none. */
    static Ingress haproxy(Path folder, String example, HostPort router) throws IOException {
        String program = program("haproxy");
        int port = freePort();
        Path pair = Files.writeString(folder.resolve("tls.pem"),
                Files.readString(folder.resolve("edge.crt")) + Files.readString(folder.resolve("edge.key")));
        Path config = Files.writeString(folder.resolve(example),
                Files.readString(EXAMPLES.resolve(example))
                        .replaceAll("internal-router:\\d+", router.toString())
                        .replace("maxconn 10000", "maxconn 100")
                        .replace("bind :443", "bind 127.0.0.1:" + port)
                        .replace("/etc/haproxy/tls.pem", pair.toString()));
        return start(folder, port, List.of(program, "-db", "-f", config.toString()));
    }

    private static String program(String name) {
        String found = PLACES.stream()
                .map(place -> place + name)
                .filter(place -> Files.isExecutable(Path.of(place)))
                .findFirst()
                .orElse("");
        assumeTrue(!found.isEmpty(), name + " is not installed");
        return found;
    }

    private static Ingress start(Path folder, int port, List<String> command) throws IOException {
        Process process = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true)
                .redirectOutput(folder.resolve("ingress-" + port + ".log").toFile())
                .start();
        Awaitility.await().until(() -> {
            if (!process.isAlive()) {
                throw new IOException(Files.readString(folder.resolve("ingress-" + port + ".log")));
            }
            return accepts(port);
        });
        return new Ingress(process, port);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
