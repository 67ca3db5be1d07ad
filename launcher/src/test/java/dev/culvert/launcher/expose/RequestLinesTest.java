package dev.culvert.launcher.expose;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.client.link.EndedExchange;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class RequestLinesTest {
    private static final Clock NOON = Clock.fixed(Instant.parse("2026-01-02T12:00:00Z"), ZoneOffset.UTC);
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @Test
    void aRequestIsALine() {
        lines(false, exchange("/a?b=c", 200, ""), exchange("/late", 0, "the caller left"),
                exchange("/\u001b[2J", 502, "refused\r\nx"));

        assertThat(printed()).containsExactly("12:00:00  GET /a?b=c  200  12 ms",
                "12:00:00  GET /late  ---  12 ms  the caller left",
                "12:00:00  GET /?[2J  502  12 ms  refused??x");
    }

    @Test
    void aServiceThatRefusesIsNamed() {
        lines(false, exchange("/", 502, "127.0.0.1:41300 refused the connection"));

        assertThat(printed()).containsExactly(
                "12:00:00  GET /  502  12 ms  127.0.0.1:41300 refused the connection: is it running?");
    }

    @Test
    void colourIsOfTheStatusAlone() {
        lines(true, exchange("/", 404, ""));

        assertThat(printed()).containsExactly("12:00:00  GET /  \u001b[33m404\u001b[0m  12 ms");
    }

    @Test
    void linesThatComeTooFastAreCounted() throws Exception {
        var stalled = new CountDownLatch(1);
        var slow = new PrintStream(new OutputStream() {
            @Override
            public void write(int value) {
                write(new byte[]{(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] data, int offset, int length) {
                try {
                    stalled.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                bytes.write(data, offset, length);
            }
        }, true, StandardCharsets.UTF_8);
        var all = RequestLines.MAX_WAITING + 501;

        try (RequestLines lines = new RequestLines(slow, false, NOON).start()) {
            for (int i = 0; i < all; i++) {
                lines.request(exchange("/", 200, ""));
            }
            assertThat(lines.requests()).isEqualTo(all);
            stalled.countDown();
            // Before the last of those that wait.
            Awaitility.await()
                    .until(() -> printed().stream().limit(150).anyMatch(line -> line.contains("not shown")));
            lines.end("ended");
        }

        assertThat(printed()).anyMatch(line -> line.endsWith("ended"));

        long shown = printed().stream().filter(line -> line.contains("GET")).count();
        long told = printed().stream()
                .filter(line -> line.contains("not shown"))
                .mapToLong(line -> Long.parseLong(line.strip().split(" ", 2)[0]))
                .sum();
        assertThat(shown + told).isEqualTo(all);
        assertThat(told).isPositive();
    }

    private void lines(boolean coloured, EndedExchange... exchanges) {
        try (RequestLines lines = new RequestLines(new PrintStream(bytes, true, StandardCharsets.UTF_8),
                coloured, NOON).start()) {
            for (EndedExchange each : exchanges) {
                lines.request(each);
            }
        }
    }

    private List<String> printed() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static EndedExchange exchange(String target, int status, String reason) {
        return new EndedExchange("GET", target, status, reason, 12_000_000);
    }
}
