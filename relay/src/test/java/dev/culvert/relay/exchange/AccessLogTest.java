package dev.culvert.relay.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.exchange.AccessEntry.End;
import dev.culvert.relay.tls.KeyExchange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class AccessLogTest {
    private static AccessEntry entry(RequestFacts facts, @Nullable Problem problem) {
        return new AccessEntry(1_795_247_201_691L, "id-1", "acme/prod", facts.bounded(),
                KeyExchange.X25519MLKEM768, null, 200, problem, 3, 4,
                End.COMPLETE, new HopTimings(), 1_691_000);
    }

    private static AccessEntry entry(int number) {
        return entry(new RequestFacts("HTTP/1.1", "GET", "a.example", "/" + number, "", "", "192.0.2.7"),
                null);
    }

    private static String target(AccessLine entry) {
        return ((AccessEntry) entry).facts().target().toString();
    }

    private static Map<String, Object> line(AccessEntry entry) {
        Map<String, Object> line = new LinkedHashMap<>();
        entry.tell(line::put);
        return line;
    }

    @Test
    void aLineTellsWhatWasAskedAndHowItEnded() {
        Map<String, Object> line = line(entry(
                new RequestFacts("HTTP/2", "GET", "a.example", "/x?token=secret", "curl/8", "*/*",
                        "192.0.2.7"),
                Problem.of(Cause.NO_ROUTE, Hop.ROUTER, "no")));

        assertThat(line).containsEntry("began", "2026-11-21T07:46:40Z")
                .containsEntry("path", "/x")
                .containsEntry("caller", "192.0.2.7")
                .containsEntry("cause", "no-route")
                .containsEntry("hop", "router")
                .containsEntry("end", "complete")
                .containsEntry("totalMicros", 1_691_000L)
                .containsKeys("requestId", "runtime", "method", "host", "protocol", "status", "bytesIn",
                        "bytesOut", "userAgent", "queueMicros", "bodyMicros", "windowMicros", "tunnelMicros",
                        "routerMicros", "upstreamMicros");
        assertThat(line.toString()).doesNotContain("secret");
    }

    @Test
    void nobodyWritesLinesOrKeysOfTheirOwn() {
        String nasty = "x\" status=\"200\"\r\n\u001b[2Jü\\";

        Map<String, Object> line = line(
                entry(new RequestFacts("HTTP/2", nasty, nasty, "/" + nasty, nasty, "", "192.0.2.7"), null));

        assertThat(line).containsEntry("userAgent",
                "x\\x22 status=\\x22200\\x22\\x0d\\x0a\\x1b[2J\\xfc\\x5c");
        assertThat(line.values().toString()).matches("[ -~]*").doesNotContain("\"");
    }

    @Test
    void aLineIsBounded() {
        String endless = "y".repeat(100_000);
        AccessEntry entry = entry(new RequestFacts("HTTP/2", "GET", endless, "/" + endless, endless, endless,
                "192.0.2.7"), null);

        assertThat(entry.facts().target().length() + entry.facts().userAgent().length()
                + entry.facts().accept().length()).isLessThan(3000);
        assertThat(line(entry).toString().length()).isLessThan(4000);
        assertThat(line(entry).get("userAgent")).asString().endsWith("yyy...");
    }

    @Test
    void linesAreWrittenInOrderByAnotherThreadAndTheLastOnesAtTheEnd() {
        List<String> written = new ArrayList<>();
        List<Thread> writers = new ArrayList<>();
        AccessLog log = new AccessLog(entry -> {
            written.add(target(entry));
            writers.add(Thread.currentThread());
        }).begin();

        for (int i = 0; i < 1000; i++) {
            log.add(entry(i));
        }
        log.close().block(Duration.ofSeconds(10));

        assertThat(written).hasSize(1000).startsWith("/0", "/1", "/2").endsWith("/999");
        assertThat(writers).doesNotContain(Thread.currentThread());
        assertThat(log.dropped()).isZero();
    }

    @Test
    void whatIsMoreThanTheQueueHoldsIsDroppedAndCountedAndNobodyWaits() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        var written = new LinkedBlockingQueue<String>();
        AccessLog log = new AccessLog(entry -> {
            while (open.getCount() > 0) {
                LockSupport.parkNanos(1_000_000);
            }
            written.add(target(entry));
        }).begin();

        for (int i = 0; i < AccessLog.MAX_WAITING + 100; i++) {
            log.add(entry(i));
        }

        assertThat(log.dropped()).isBetween(98L, 100L);
        open.countDown();
        assertThat(written.poll(10, TimeUnit.SECONDS)).isEqualTo("/0");
        log.close().block(Duration.ofSeconds(10));
        assertThat(written.size() + log.dropped()).isEqualTo(AccessLog.MAX_WAITING + 99);
    }

    @Test
    void aWriterThatSleepsIsWoken() throws Exception {
        var written = new LinkedBlockingQueue<String>();
        AccessLog log = new AccessLog(entry -> written.add(target(entry))).begin();

        for (int i = 0; i < 100; i++) {
            log.add(entry(i));
            assertThat(written.poll(10, TimeUnit.SECONDS)).isEqualTo("/" + i);
        }
        log.close().block(Duration.ofSeconds(10));
    }
}
