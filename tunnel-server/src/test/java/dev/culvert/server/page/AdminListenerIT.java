package dev.culvert.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.server.AdminServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The names by which the admin listener is called. */
class AdminListenerIT {
    @TempDir
    private Path folder;

    private AdminServer server;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private String ask(String path, String host) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.address().port())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.1:9090", "localhost:1", "LOCALHOST", "[::1]:9090",
            "192.0.2.7", "admin.example", "Admin.Example.:443"})
    void ownNamesAreServed(String host) throws IOException {
        assertThat(ask("/login", host)).startsWith("HTTP/1.1 200 ");
        assertThat(ask("/metrics", host)).startsWith("HTTP/1.1 200 ");
    }

    @ParameterizedTest
    @CsvSource({"/, evil.example", "/login, evil.example:9090", "/metrics, localhost.evil.example",
            "/api/v1/runtimes, 127.0.0.1.evil.example", "/openapi.yaml, xadmin.example",
            "/login, 2130706433", "/login, 0x7f.1"})
    void namesOfStrangersAreRefused(String path, String host) throws IOException {
        assertThat(ask(path, host)).startsWith("HTTP/1.1 421 ")
                .contains("application/problem+json", "misdirected-request", "admin.hosts");
    }

    @Test
    void healthChecksUseAnyName() throws IOException {
        assertThat(ask("/healthz", "evil.example")).startsWith("HTTP/1.1 200 ");
        assertThat(ask("/readyz", "evil.example")).startsWith("HTTP/1.1 200 ");
    }
}
