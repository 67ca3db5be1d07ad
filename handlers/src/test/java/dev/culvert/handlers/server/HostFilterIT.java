package dev.culvert.handlers.server;

import static dev.culvert.handlers.server.ServerFixture.setup;
import static dev.culvert.handlers.server.ServerFixture.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.fields.AllowedHosts;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HostFilterIT {
    @RegisterExtension
    final ServerFixture server = new ServerFixture();

    @BeforeEach
    void start() {
        var filter = new HostFilter(AllowedHosts.of(List.of("gateway.example")), "admin.hosts");
        server.start(request -> text("hello"), setup().filter(filter));
    }

    private String get(String path, String host) throws IOException {
        return server.exchange(
                "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    }

    @Test
    void aForeignHostIsMisdirected() throws IOException {
        assertThat(get("/", "evil.example")).startsWith("HTTP/1.1 421 ").contains("admin.hosts");
        assertThat(get("/api/v1/webhooks", "127.0.0.1.evil.example")).startsWith("HTTP/1.1 421 ");
    }

    @Test
    void addressesAndListedNamesAreServed() throws IOException {
        assertThat(get("/", "127.0.0.1:9090")).startsWith("HTTP/1.1 200 ").endsWith("hello");
        assertThat(get("/", "gateway.example:9090")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void probesAreAnsweredForAnyHost() throws IOException {
        assertThat(get("/readyz", "balancer.example")).startsWith("HTTP/1.1 200 ");
        assertThat(get("/readyz/x", "balancer.example")).startsWith("HTTP/1.1 421 ");
    }
}
