package dev.culvert.server.page;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.server.AdminServer;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.tunnel.ServerEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The live updates of pages, over HTTP. */
@Timeout(60)
class LivePagesIT {
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");
    private static final Pattern LIVE = Pattern.compile("sse-connect=\"([^\"]+)\"");

    @TempDir
    private Path folder;

    private AdminServer server;
    private Visitor visitor;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
        visitor = new Visitor(server.address());
        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");
        visitor.enter(server.token());
    }

    @AfterEach
    void stop() {
        visitor.close();
        server.close();
    }

    private void connect() {
        RegisteredRuntime runtime = Objects.requireNonNull(server.store.byName(PROD));
        await(server.store.connected(runtime.identity()).thenReturn(true));
        server.tunnels.open.add(new SessionView("s1", runtime.id(), 3, "open", Instant.now(), 0.0125, 2,
                "192.0.2.7:4711", "<b>"));
        server.events.publish(ServerEvent.Kind.CONNECTED, PROD, 3, "192.0.2.7:4711", null);
    }

    /** The path from which a page takes its live updates. */
    private String livePath(String page) {
        Matcher found = LIVE.matcher(visitor.get(page).text());
        assertThat(found.find()).isTrue();
        return found.group(1).replace("&amp;", "&");
    }

    private HttpResponse<InputStream> open(String path) {
        return visitor.open(visitor.request(path).header("accept", "text/event-stream"));
    }

    /** Reads until an event of a topic, and returns its data. */
    private static String next(BufferedReader events, String topic) throws IOException {
        for (String line = events.readLine(); line != null; line = events.readLine()) {
            if (line.equals("event: " + topic)) {
                var data = new StringBuilder();
                for (String more = events.readLine(); more.startsWith("data: "); more = events.readLine()) {
                    data.append(more.substring("data: ".length())).append('\n');
                }
                return data.toString();
            }
        }
        return "";
    }

    private static BufferedReader reader(HttpResponse<InputStream> response) {
        return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    @Test
    void aRuntimeAppearsByItself() throws IOException {
        HttpResponse<InputStream> response = open(livePath("/runtimes"));
        try (BufferedReader events = reader(response)) {
            connect();

            assertThat(next(events, "runtime:acme/prod")).contains("class=\"state good\">connected", "13 ms",
                    "&lt;b&gt;");
        }
        assertThat(response.headers().firstValue("content-type")).hasValue("text/event-stream");
        assertThat(response.headers().firstValue("cache-control")).hasValue("no-store");
    }

    @Test
    void whatHappenedBeforeTheStreamWasOpenedIsNotMissed() throws IOException {
        String path = livePath("/runtimes/acme/prod");

        connect();

        try (BufferedReader events = reader(open(path))) {
            assertThat(next(events, "detail:acme/prod")).contains("192.0.2.7:4711");
        }
    }

    @Test
    void eventsFollowTheList() throws IOException {
        try (BufferedReader events = reader(open(livePath("/events")))) {
            connect();

            assertThat(next(events, "events")).contains("<tr>", "connected", "acme/prod");
        }
        assertThat(visitor.get("/events").text()).contains("192.0.2.7:4711");
    }

    @Test
    void manyWebhooksHideNothingThatHappenedToARuntime() throws IOException {
        String path = livePath("/events");
        connect();
        for (int i = 0; i < 2000; i++) {
            server.events.publish(new ServerEvent.OfWebhook(Instant.now(), PROD,
                    new InboxEvent(i == 0 ? InboxEvent.Kind.STORED : InboxEvent.Kind.FAILED, "w" + i, "r",
                            "argo/push", 1, "503")));
        }

        assertThat(visitor.get("/events").text()).contains("connected", "w1999").doesNotContain("w0<");
        try (BufferedReader events = reader(open(path.replace("&topic=webhook-events", "")))) {
            assertThat(events.readLine()).isEqualTo("event: events");
        }
    }

    @Test
    void theOverviewTellsOfALoss() throws IOException {
        connect();
        try (BufferedReader events = reader(open(livePath("/")))) {
            server.tunnels.open.clear();
            server.events.publish(ServerEvent.Kind.DISCONNECTED, PROD, 3, null, "closed");

            assertThat(next(events, "overview")).contains("acme/prod is not connected.");
        }
    }

    @Test
    void aPageOfAnotherServerIsLoadedAgain() throws IOException {
        try (BufferedReader events = reader(open("/live?since=0123-7&topic=overview"))) {
            assertThat(next(events, "missed")).isNotEmpty();
        }
    }

    @Test
    void openPagesOfASessionAreBounded() throws IOException {
        List<InputStream> opened = new ArrayList<>();
        try {
            for (int i = 0; i < 16; i++) {
                HttpResponse<InputStream> response = open("/live?topic=overview");
                assertThat(response.statusCode()).isEqualTo(200);
                opened.add(response.body());
            }

            assertThat(visitor.get("/live?topic=overview").status()).isEqualTo(503);
        } finally {
            for (InputStream each : opened) {
                each.close();
            }
        }
    }

    @Test
    void topicsOfAPageAreBounded() {
        var path = new StringBuilder("/live?since=x");
        for (int i = 0; i < 513; i++) {
            path.append("&topic=").append(i);
        }

        assertThat(visitor.get(path.toString()).status()).isEqualTo(400);
    }
}
