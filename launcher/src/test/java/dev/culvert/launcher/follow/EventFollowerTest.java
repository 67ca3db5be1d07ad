package dev.culvert.launcher.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.culvert.launcher.Captured;
import dev.culvert.launcher.admin.AdminClient;
import dev.culvert.launcher.admin.AdminUnreachable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stream of events that ends, from a server that only answers. */
class EventFollowerTest {
    private static final String REFUSED = "401 {\"title\":\"Unauthorized\",\"detail\":\"the token is unknown\"}";

    private static final String REQUEST = "{\"id\":\"1\",\"began\":\"2026-11-25T20:00:02Z\",\"runtime\":\"acme/prod\","
            + "\"method\":\"GET\",\"path\":\"/a\\u001b[2J\",\"status\":502,\"cause\":\"upstream-refused\","
            + "\"hop\":\"upstream\",\"detail\":\"no\",\"end\":\"complete\",\"totalMicros\":1203400}";

    @TempDir
    Path folder;
    private final Queue<String> answers = new ConcurrentLinkedQueue<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<StreamEvent> shown = new ArrayList<>();
    private final PrintStream err = System.err;
    private final ByteArrayOutputStream told = new ByteArrayOutputStream();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        System.setErr(new PrintStream(told, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void stop() {
        server.stop(0);
        System.setErr(err);
    }

    private void answer(HttpExchange exchange) throws IOException {
        asked.add(exchange.getRequestURI() + " after "
                + exchange.getRequestHeaders().getFirst("Last-Event-ID"));
        String answer = answers.remove();
        exchange.sendResponseHeaders(Integer.parseInt(answer.substring(0, 3)), 0); // chunked
        exchange.getResponseBody().write(answer.substring(4).getBytes(StandardCharsets.UTF_8));
        exchange.close();
    }

    private URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private EventFollower follower(int most) {
        return new EventFollower(new AdminClient(address(), "token"), "/events", Duration.ofMillis(1),
                event -> {
                    shown.add(event);
                    return shown.size() < most;
                });
    }

    @Test
    void aStreamThatEndsIsAskedForAgainBehindItsLastEvent() {
        answers.add("200 :\n\nid: 7\nevent: request\ndata: {\"a\":1}\n\nevent: request\ndata: {\"cut");
        answers.add("503 {\"title\":\"Overloaded\"}");
        answers.add("200 :\r\n\r\nevent: new\r\ndata:{\"b\":\r\ndata: 2}\r\nretry: 1\r\n\r\n");
        answers.add(REFUSED);

        assertThat(follower(9).run()).isEqualTo(78);

        assertThat(shown).containsExactly(new StreamEvent("request", "{\"a\":1}"),
                new StreamEvent("new", "{\"b\":\n2}"));
        assertThat(asked).containsExactly("/api/v1/events after null", "/api/v1/events after 7",
                "/api/v1/events after 7", "/api/v1/events after 7");
        assertThat(told.toString(StandardCharsets.UTF_8)).isEqualTo("""
                culvert: the server is lost, dialling again: it ended the stream
                culvert: connected again
                culvert: the server is lost, dialling again: it ended the stream
                culvert: Unauthorized: the token is unknown (401)
                """);
    }

    @Test
    void itEndsWhenNobodyReadsWhatItPrints() {
        answers.add("200 event: a\ndata: {}\n\nevent: b\ndata: {}\n\nevent: c\ndata: {}\n\n");

        assertThat(follower(2).run()).isZero();

        assertThat(shown).extracting(StreamEvent::kind).containsExactly("a", "b");
        assertThat(told.size()).isZero();
    }

    @Test
    void aServerThatIsNotThereAtFirstIsToldAsByEachCommand() {
        server.stop(0);

        assertThatThrownBy(() -> follower(2).run()).isInstanceOf(AdminUnreachable.class)
                .hasMessageContaining("the connection was refused");
        assertThat(asked).isEmpty();
    }

    @Test
    void aFullServerIsToldAtFirst() {
        answers.add("503 {\"title\":\"Overloaded\",\"detail\":\"32 callers watch\"}");

        assertThat(follower(2).run()).isEqualTo(69);
        assertThat(told.toString(StandardCharsets.UTF_8))
                .isEqualTo("culvert: Overloaded: 32 callers watch (503)\n");
    }

    private Captured run(String... arguments) throws IOException {
        Files.writeString(folder.resolve("token"), "a-token-of-some-length\n");
        answers.add(REFUSED);
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--admin", address().toString(), "--admin-token-file",
                folder.resolve("token").toString()));
        return Captured.run(all.toArray(String[]::new));
    }

    @Test
    void tailPrintsALineForEachRequest() throws IOException {
        answers.add("200 event: requests-missed\ndata: {\"count\":12}\n\nevent: request\ndata: " + REQUEST
                + "\n\nevent: later\ndata: {}\n\n");

        Captured tail = run("tail", "acme", "prod", "--status", "5xx", "--problems");

        assertThat(tail.exitCode()).isEqualTo(78);
        assertThat(tail.out()).matches(
                "..:..:03  acme/prod  GET /a\\?\\[2J  502  1203 ms  upstream-refused \\(upstream\\): no\\n");
        assertThat(tail.err()).startsWith("culvert: 12 left out here: there were more than the server sends");
        assertThat(asked.getFirst())
                .isEqualTo(
                        "/api/v1/events?requests=only&runtime=acme%2Fprod&status=5xx&problems=true after null");
    }

    @Test
    void tailPrintsWhatTheServerSentForScripts() throws IOException {
        answers.add("200 event: request\ndata: " + REQUEST + "\n\n");

        assertThat(run("tail", "--output", "json").out()).isEqualTo(REQUEST + "\n");
        assertThat(asked.getFirst()).isEqualTo("/api/v1/events?requests=only after null");
    }

    @Test
    void eventsPrintsWhatHappensToARuntime() throws IOException {
        String events = "200 event: connected\ndata: {\"at\":\"2026-11-25T20:00:01Z\",\"account\":\"acme\",\"name\":\"prod\","
                + "\"tunnel\":\"t1\",\"generation\":7,\"remote\":\"192.0.2.7:4711\",\"cause\":null}\n\n"
                + "event: stopping\ndata: {\"at\":\"2026-11-25T20:00:02Z\"}\n\nevent: deleted\ndata: "
                + "{\"at\":\"?\",\"account\":\"acme\",\"name\":\"other\",\"cause\":\"by an operator\"}\n\n";
        answers.add(events);

        assertThat(run("events").out().lines().map(line -> line.replaceAll(" +", " "))).satisfiesExactly(
                line -> assertThat(line).matches("..:..:01 connected acme/prod remote 192.0.2.7:4711"),
                line -> assertThat(line).matches("..:..:02 stopping -"),
                line -> assertThat(line).isEqualTo("--:--:-- deleted acme/other by an operator"));
        answers.add(events);
        assertThat(run("events", "acme", "other", "--output", "json").out())
                .isEqualTo("{\"event\":\"deleted\","
                        + "\"at\":\"?\",\"account\":\"acme\",\"name\":\"other\",\"cause\":\"by an operator\"}\n");
    }
}
