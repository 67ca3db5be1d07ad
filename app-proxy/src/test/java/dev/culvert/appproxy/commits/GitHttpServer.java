package dev.culvert.appproxy.commits;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Git's own HTTP back end behind the JDK's server: one user with a password, and answers that get lost on demand. */
final class GitHttpServer implements AutoCloseable {
    static final String LOGIN = "ada";
    static final String TOKEN = "the-token-of-ada";

    /** Requests as {@code GET /x.git/info/refs?service=git-upload-pack}. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    /** Which requests are done, and their answers then cut off. */
    volatile Predicate<String> cutOff = request -> false;

    /** Whether it speaks protocol version 0 alone, as old servers do. */
    volatile boolean old;

    private final Path folder;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    GitHttpServer(Path folder) throws IOException {
        this.folder = folder;
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    URI uri(String repository) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/" + repository + ".git");
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String request = exchange.getRequestMethod() + " " + exchange.getRequestURI();
            requests.add(request);
            String basic = "Basic " + Base64.getEncoder()
                    .encodeToString((LOGIN + ":" + TOKEN).getBytes(StandardCharsets.UTF_8));
            if (!basic.equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
                exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"git\"");
                exchange.sendResponseHeaders(401, -1);
                return;
            }
            byte[] output = run(exchange);
            if (!cutOff.test(request)) {
                send(exchange, output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private byte[] run(HttpExchange exchange) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder("git", "http-backend").redirectError(
                ProcessBuilder.Redirect.DISCARD);
        Map<String, String> environment = builder.environment();
        environment.putAll(Map.of("GIT_PROJECT_ROOT", folder.toString(), "GIT_HTTP_EXPORT_ALL", "1",
                "REMOTE_USER", LOGIN, "REQUEST_METHOD", exchange.getRequestMethod(), "PATH_INFO",
                exchange.getRequestURI().getPath(), "GIT_CONFIG_NOSYSTEM", "1", "GIT_CONFIG_GLOBAL",
                "/dev/null"));
        put(environment, "QUERY_STRING", exchange.getRequestURI().getRawQuery());
        put(environment, "CONTENT_TYPE", exchange.getRequestHeaders().getFirst("Content-Type"));
        put(environment, "HTTP_CONTENT_ENCODING", exchange.getRequestHeaders().getFirst("Content-Encoding"));
        put(environment, "GIT_PROTOCOL", old ? null : exchange.getRequestHeaders().getFirst("Git-Protocol"));
        Process process = builder.start();
        try (OutputStream in = process.getOutputStream()) {
            exchange.getRequestBody().transferTo(in);
        } catch (IOException e) {
            // Git has read what it needs.
        }
        byte[] output;
        try (InputStream out = process.getInputStream()) {
            output = out.readAllBytes();
        }
        process.waitFor();
        return output;
    }

    private static void send(HttpExchange exchange, byte[] output) throws IOException {
        String text = new String(output, StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        int status = 200;
        for (String line : text.substring(0, end).lines().toList()) {
            String value = line.substring(line.indexOf(':') + 1).strip();
            if (line.startsWith("Status:")) {
                status = Integer.parseInt(value.substring(0, 3));
            } else {
                exchange.getResponseHeaders().set(line.substring(0, line.indexOf(':')), value);
            }
        }
        var body = new ByteArrayOutputStream();
        body.write(output, end + 4, output.length - end - 4);
        exchange.sendResponseHeaders(status, body.size() == 0 ? -1 : body.size());
        exchange.getResponseBody().write(body.toByteArray());
    }

    private static void put(Map<String, String> environment, String name, @Nullable String value) {
        if (value != null) {
            environment.put(name, value);
        }
    }
}
