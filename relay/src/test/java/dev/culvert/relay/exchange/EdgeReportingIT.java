package dev.culvert.relay.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.observe.RequestFilter;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.relay.observe.RequestPage;
import dev.culvert.relay.observe.RequestRecord;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.FrameCaller;
import dev.culvert.relay.testing.TlsCaller;
import java.lang.reflect.RecordComponent;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the edge tells about requests: in its log, and to callers. */
class EdgeReportingIT {
    private static final Pattern TIMING = Pattern.compile("culvert-([a-z]+);dur=([0-9]+)\\.([0-9]{3})");
    private static final String BROWSER = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";

    private final BlockingQueue<AccessEntry> lines = new LinkedBlockingQueue<>();
    private final AccessLog log = new AccessLog(line -> lines.add((AccessEntry) line)).begin();
    private final RequestLog requests = new RequestLog(Clock.systemUTC());
    private final EdgeFixture edge = new EdgeFixture(CallerLimits.defaults(),
            new EdgeReporting(log, true, requests));
    private final TlsCaller caller = edge.caller();

    @AfterEach
    void close() {
        caller.close();
        await().untilAsserted(() -> assertThat(edge.active()).isZero());
        edge.close();
        log.close().block(Duration.ofSeconds(10));
    }

    private Map<String, Object> line() throws InterruptedException {
        AccessEntry entry = Objects.requireNonNull(lines.poll(10, TimeUnit.SECONDS), "no line was written");
        Map<String, Object> line = new LinkedHashMap<>();
        entry.tell(line::put);
        return line;
    }

    private static Map<String, Long> micros(String head) {
        Map<String, Long> micros = new LinkedHashMap<>();
        Matcher found = TIMING.matcher(head);
        while (found.find()) {
            micros.put(found.group(1), Long.parseLong(found.group(2) + found.group(3)));
        }
        return micros;
    }

    @Test
    void aRequestIsALine() throws Exception {
        caller.head("POST /a/b?token=secret", "Content-Length: 5", "User-Agent: test/1",
                "Authorization: Bearer secret", "Cookie: secret", "X-Request-Id: id-1",
                "X-Forwarded-For: 6.6.6.6")
                .send("hello");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.awaitEnd();
        exchange.ok("answer");
        caller.readUntil("answer");

        Map<String, Object> line = line();
        assertThat(line).containsEntry("requestId", "id-1")
                .containsEntry("runtime", "acme/prod")
                .containsEntry("caller", "127.0.0.1")
                .containsEntry("method", "POST")
                .containsEntry("host", "acme.example")
                .containsEntry("path", "/a/b")
                .containsEntry("protocol", "HTTP/1.1")
                .containsEntry("status", 200)
                .containsEntry("bytesIn", 5L)
                .containsEntry("bytesOut", 6L)
                .containsEntry("userAgent", "test/1")
                .containsEntry("end", "complete")
                .doesNotContainKeys("cause", "hop");
        assertThat(line.toString()).doesNotContain("secret", "6.6.6.6");
    }

    @Test
    void serverTimingTellsTheNumbersOfTheLogBehindTheUpstreamsOwn() throws Exception {
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.times(300, 2000, Duration.ofMillis(20));
        exchange.head("200", false, "content-length", "2", "server-timing", "db;dur=1").body("ok").end();
        String head = caller.readUntil("\r\n\r\nok");

        Map<String, Object> line = line();
        Map<String, Long> told = micros(head);
        assertThat(head).containsSubsequence("Server-Timing: db;dur=1\r\n",
                "Server-Timing: culvert-queue;dur=");
        assertThat(told).containsEntry("router", 300L).containsEntry("upstream", 2000L);
        assertThat(told.get("tunnel")).isGreaterThanOrEqualTo(17_000L);
        told.forEach((hop, micros) -> assertThat(line).containsEntry(hop + "Micros", micros));
        assertThat((Long) line.get("totalMicros"))
                .isGreaterThan(told.values().stream().mapToLong(v -> v).sum());
    }

    @Test
    void timesThatNobodyCouldHaveSpentDoNotTurnNegative() throws Exception {
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.times(Integer.MAX_VALUE, Integer.MAX_VALUE, Duration.ZERO);
        exchange.ok("ok");

        assertThat(micros(caller.readUntil("\r\n\r\nok"))).containsEntry("tunnel", 0L);
    }

    @Test
    void aProblemIsLoggedWithItsCauseAndToldAsProxiesDo() throws Exception {
        edge.relay
                .answer(exchange -> exchange.fail(Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "not \"there\"")));
        caller.get("/");

        String answer = caller.readUntil("}");
        assertThat(answer).startsWith("HTTP/1.1 503")
                .contains(
                        "Proxy-Status: culvert-edge; error=destination_unavailable; details=\"not \\\"there\\\"\"",
                        "Server-Timing: culvert-queue;dur=", "Content-Type: application/problem+json");
        assertThat(line()).containsEntry("status", 503)
                .containsEntry("cause", "no-tunnel")
                .containsEntry("hop", "tunnel")
                .containsEntry("end", "complete");
    }

    @Test
    void aBrowserGetsAPage() throws Exception {
        caller.head("TRACE /x", BROWSER, "X-Request-Id: <b>");
        String page = caller.readUntil("</html>");

        assertThat(page).startsWith("HTTP/1.1 405")
                .contains("Content-Type: text/html; charset=utf-8",
                        "Content-Security-Policy: default-src 'none'",
                        "<strong title=\"failed here\">edge</strong>", "Request &lt;b&gt;")
                .doesNotContain("<b>");
        assertThat(line()).containsEntry("status", 405).containsEntry("path", "/x");
    }

    @Test
    void anUpstreamsOwnProblemPassesUntouched() throws Exception {
        caller.head("GET /", BROWSER);
        edge.relay.next()
                .head("502", false, "content-type", "application/problem+json", "content-length", "2",
                        "proxy-status", "other; error=dns_error")
                .body("{}")
                .end();

        String answer = caller.readUntil("{}");
        assertThat(answer)
                .contains("Content-Type: application/problem+json", "Proxy-Status: other; error=dns_error")
                .doesNotContain("culvert-edge", "<html");
    }

    @Test
    void aHeadOfAPageHasItsLengthAndNoBody() throws Exception {
        caller.send("HEAD / HTTP/1.1\r\nHost: nobody.example\r\n" + BROWSER + "\r\n\r\n").get("/next");
        String head = caller.readHead();
        edge.relay.next().ok("ok");

        assertThat(head).startsWith("HTTP/1.1 404")
                .contains("text/html")
                .containsPattern("Content-Length: [0-9]{3,}");
        assertThat(caller.readHead()).startsWith("HTTP/1.1 200");
        assertThat(line()).containsEntry("bytesOut", 0L).containsEntry("cause", "unknown-host");
    }

    @Test
    void grpcNeverGetsAPage() throws Exception {
        edge.relay.answer(exchange -> exchange.fail(Problem.of(Cause.NO_ROUTE, Hop.ROUTER, "none")));
        caller.head("POST /x.Y/Z", "Content-Type: application/grpc+proto", "Content-Length: 0", BROWSER);

        assertThat(caller.readUntil("}")).contains("application/problem+json");
    }

    @Test
    void whoLeavesFirstIsLoggedSo() throws Exception {
        caller.get("/");
        edge.relay.next();
        caller.close();

        assertThat(line()).containsEntry("status", 0).containsEntry("end", "caller-left");
    }

    @Test
    void aResponseThatBreaksOffIsAReset() throws Exception {
        caller.get("/");
        edge.relay.next()
                .head("200", false)
                .body("part")
                .fail(Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM, "gone"));
        caller.readAll();

        assertThat(line()).containsEntry("status", 200)
                .containsEntry("end", "reset")
                .containsEntry("bytesOut", 4L)
                .containsEntry("cause", "upstream-reset")
                .containsEntry("hop", "upstream");
    }

    @Test
    void whatIsNoRequestIsALineToo() throws Exception {
        caller.send("GET / HTTP/1.1\r\nBad Header\r\n\r\n");
        caller.readAll();

        assertThat(line()).containsEntry("status", 400)
                .containsEntry("protocol", "")
                .containsEntry("caller", "127.0.0.1");
    }

    @Test
    void theWaitForWindowsIsCounted() throws Exception {
        edge.relay.answer(exchange -> exchange.eager = false);
        caller.head("POST /", "Content-Length: 5").send("hello");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.awaitEnd();
        exchange.waitsFor(Duration.ofMillis(20)).passOn(5).ok("ok");

        Map<String, Long> told = micros(caller.readUntil("\r\n\r\nok"));
        assertThat(told.get("window")).isGreaterThanOrEqualTo(19_000L);
        assertThat(told.get("body")).isGreaterThanOrEqualTo(told.get("window"));
    }

    @Test
    void requestsAreKeptBeforeOperatorsLook() throws Exception {
        caller.get("/unseen");
        edge.relay.next().ok("ok");
        line();
        edge.relay.answer(exchange -> exchange.fail(Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "not there")));
        caller.head("GET /lost?token=secret", "Authorization: Bearer secret", "Cookie: secret",
                "User-Agent: a\"b", "X-Request-Id: id-1");
        line();

        assertThat(requests.isRecording()).isFalse();
        RequestPage page = requests.page(RequestFilter.ALL, null, 10);
        assertThat(page.items()).extracting(RequestRecord::path).containsExactly("/lost", "/unseen");
        RequestRecord problem = page.items().getFirst();
        assertThat(problem.toString()).contains("requestId=id-1", "runtime=acme/prod", "path=/lost,",
                "status=503", "cause=no-tunnel", "hop=tunnel", "detail=not there", "userAgent=a\\x22b")
                .doesNotContain("secret");
        assertThat(requests.find("id-1")).isEqualTo(problem);
        assertThat(requests.find(problem.id())).isEqualTo(problem);

        edge.relay.answer(exchange -> exchange.ok("ok"));
        caller.get("/seen");
        line();
        assertThat(requests.page(RequestFilter.ALL, null, 10).items()).extracting(RequestRecord::path)
                .containsExactly("/seen", "/lost", "/unseen");
    }

    @Test
    void aRecordHasTheNumbersOfTheLog() throws Exception {
        requests.page(RequestFilter.ALL, null, 1);
        caller.head("POST /", "Content-Length: 5").send("hello");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.awaitEnd();
        exchange.times(300, 2000, Duration.ofMillis(20));
        exchange.ok("answer");

        Map<String, Object> line = line();
        RequestRecord shown = requests.page(RequestFilter.ALL, null, 1).items().getFirst();
        Map<String, Object> members = new LinkedHashMap<>();
        for (RecordComponent each : RequestRecord.class.getRecordComponents()) {
            Object value = each.getAccessor().invoke(shown);
            if (value != null && !each.getName().equals("id")) {
                members.put(each.getName(), value);
            }
        }
        assertThat(members).isEqualTo(line);
    }

    @Test
    void streamsOfHttp2AreLinesOfTheirOwn() throws Exception {
        try (FrameCaller http2 = edge.http2()) {
            http2.get(1, "/2?q");
            edge.relay.next().ok("ok");

            assertThat(line()).containsEntry("protocol", "HTTP/2").containsEntry("path", "/2");
        }
    }
}
