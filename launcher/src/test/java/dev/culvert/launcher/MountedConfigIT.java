package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A router whose configuration is a mounted ConfigMap, which changes under load. */
class MountedConfigIT {
    private static final int CALLERS = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicBoolean calling = new AtomicBoolean(true);
    private HttpServer upstream;
    private Path mount;
    private int versions;
    private String router = "";

    @BeforeEach
    void startAnUpstream() throws IOException {
        mount = Files.createDirectory(folder.resolve("mount"));
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", exchange -> {
            byte[] body = "ok".getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        upstream.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        upstream.start();
    }

    @AfterEach
    void stop() {
        calling.set(false);
        upstream.stop(0);
        http.close();
    }

    /** Replaces the file as the kubelet does: a new folder, to which the link is moved. */
    private void mounted(String config) throws IOException {
        String version = "..2026_11_25_" + ++versions;
        Files.createDirectory(mount.resolve(version));
        Files.writeString(mount.resolve(version).resolve("router.yaml"), config);
        Files.createSymbolicLink(mount.resolve("..data_tmp"), Path.of(version));
        Files.move(mount.resolve("..data_tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        if (versions == 1) {
            Files.createSymbolicLink(mount.resolve("router.yaml"), Path.of("..data/router.yaml"));
        }
    }

    private String routes(String... paths) {
        var text = new StringBuilder("listen: 127.0.0.1:0\nroutes:\n");
        for (String path : paths) {
            text.append("  - { path: ")
                    .append(path)
                    .append(", to: \"http://127.0.0.1:")
                    .append(upstream.getAddress().getPort())
                    .append("\" }\n");
        }
        return text.toString();
    }

    private int status(String path) {
        try {
            return http.send(HttpRequest.newBuilder(URI.create(router + path)).build(),
                    HttpResponse.BodyHandlers.discarding()).statusCode();
        } catch (IOException e) {
            return 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    private void call() {
        while (calling.get()) {
            if (status("/old/") == 200) {
                answered.incrementAndGet();
            } else {
                failed.incrementAndGet();
            }
        }
    }

    private void awaitMore() {
        int before = answered.get();
        await().atMost(PATIENCE).until(() -> answered.get() > before + 50);
    }

    @Test
    void aSwapBringsRoutesAndABrokenOneChangesNothing() throws Exception {
        mounted(routes("/old/"));
        try (Launched part = Launched.start(folder, "router", "--config", "mount/router.yaml");
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            router = "http://" + part.event("listening").path("listen").asText();
            for (int i = 0; i < CALLERS; i++) {
                threads.execute(this::call);
            }
            awaitMore();
            assertThat(status("/new/")).isEqualTo(404);

            mounted(routes("/old/", "/new/"));
            await().atMost(PATIENCE).until(() -> status("/new/") == 200);
            awaitMore();

            mounted(routes("/old/") + "routs: []\n");
            part.printed("configuration not applied");
            assertThat(part.out()).contains("routs");
            assertThat(status("/readyz")).isEqualTo(200);
            assertThat(status("/new/")).isEqualTo(200);

            mounted(routes("/old/"));
            await().atMost(PATIENCE).until(() -> status("/new/") == 404);
            awaitMore();
            calling.set(false);
        }
        assertThat(failed).hasValue(0);
    }
}
