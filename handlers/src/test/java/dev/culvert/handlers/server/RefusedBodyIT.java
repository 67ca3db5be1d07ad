package dev.culvert.handlers.server;

import static dev.culvert.handlers.server.ServerFixture.setup;
import static dev.culvert.handlers.server.ServerFixture.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.net.DiscardAccounts;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Refused uploads: a caller that sends all of its body before it reads still reads the reason. */
class RefusedBodyIT {
    private static final int BYTES = 30 << 20;
    private static final String BODY = "a".repeat(BYTES);

    @RegisterExtension
    final ServerFixture server = new ServerFixture();

    private void refuse(Cause cause) {
        server.start(request -> Mono.error(new EdgeException(Problem.of(cause, Hop.EDGE, "why"))));
    }

    private static String head(String fields) {
        return "POST / HTTP/1.1\r\nHost: a\r\n" + fields + "Content-Length: " + BYTES + "\r\n\r\n";
    }

    @ParameterizedTest
    @ValueSource(strings = {"BODY_TOO_LARGE", "UNAUTHORIZED", "NOT_ALLOWED", "NOT_FOUND"})
    void theReasonIsReadOnAConnectionThatCloses(Cause cause) throws IOException {
        refuse(cause);

        assertThat(server.exchange(head("Connection: close\r\n") + BODY))
                .startsWith("HTTP/1.1 " + cause.status())
                .endsWith("}");
    }

    @Test
    void theReasonIsReadOnAConnectionThatIsKept() throws IOException {
        refuse(Cause.BODY_TOO_LARGE);

        try (RawClient client = server.connect()) {
            client.send(head("") + BODY + head("Connection: close\r\n"));
            assertThat(client.readUntil("}")).startsWith("HTTP/1.1 413");
            client.send(BODY);
            assertThat(client.readAll()).startsWith("HTTP/1.1 413").endsWith("}");
        }
    }

    @Test
    void theReasonOfAHeadThatCannotBeParsedIsRead() throws IOException {
        server.start(request -> text("never"));

        assertThat(server.exchange("POST / HTTP/1.1\r\nHost: a\r\nbad field\r\n\r\n" + BODY))
                .startsWith("HTTP/1.1 400")
                .endsWith("}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Connection: close\r\n"})
    void aCallerThatNeverStopsIsReadAtItsSourcesRate(String fields) throws Exception {
        refuse(Cause.BODY_TOO_LARGE);
        int buffers = 32 << 20; // at most, of both sockets
        AtomicLong sent = new AtomicLong();
        AtomicBoolean ended = new AtomicBoolean();
        try (RawClient client = server.connect()) {
            client.send(
                    "POST / HTTP/1.1\r\nHost: a\r\n" + fields + "Content-Length: " + (1L << 40) + "\r\n\r\n");
            assertThat(client.readUntil("}")).startsWith("HTTP/1.1 413");
            long began = System.nanoTime();
            Thread sender = Thread.ofVirtual().start(() -> {
                sendWithoutEnd(client, sent);
                ended.set(true);
            });

            await().until(() -> sent.get() >= DiscardAccounts.OF_SOURCE.burst());
            await().during(1, TimeUnit.SECONDS).until(() -> {
                double seconds = (System.nanoTime() - began) / 1e9;
                return sent.get() < DiscardAccounts.OF_SOURCE.burst() + buffers
                        + seconds * DiscardAccounts.OF_SOURCE.perSecond();
            });

            assertThat(ended).isFalse();
            client.reset();
            sender.join();
        }
    }

    private static void sendWithoutEnd(RawClient client, AtomicLong sent) {
        String part = "a".repeat(64 << 10);
        try {
            while (true) {
                client.send(part);
                sent.addAndGet(part.length());
            }
        } catch (IOException e) {
            // the test has ended
        }
    }

    /** Strangers could fill the log. */
    @Test
    void aCallersResetLeavesNoLineInTheLog() throws IOException {
        var log = new ListAppender<ILoggingEvent>();
        log.start();
        AtomicBoolean cancelled = new AtomicBoolean();
        server.start(request -> Mono.<EdgeResponse>never()
                .doOnCancel(() -> cancelled.set(true)), setup());
        List<Logger> loggers = List.of((Logger) LoggerFactory.getLogger("io.netty"),
                (Logger) LoggerFactory.getLogger("reactor.netty"));
        loggers.forEach(logger -> logger.addAppender(log));
        try (RawClient client = server.connect()) {
            client.send(head("") + "begun");
            client.reset();
            await().untilTrue(cancelled);
        } finally {
            loggers.forEach(logger -> logger.detachAppender(log));
        }

        assertThat(List.copyOf(log.list)).filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .isEmpty();
    }
}
