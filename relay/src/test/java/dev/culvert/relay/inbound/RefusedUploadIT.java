package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.net.DiscardAccounts;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.TlsCaller;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Refused uploads over HTTP/1.1: a caller that sends all of its body before it reads still reads the reason. */
class RefusedUploadIT {
    private static final int BYTES = 30 << 20;

    private final EdgeFixture edge = new EdgeFixture();
    private final TlsCaller caller = edge.caller();

    @AfterEach
    void close() {
        caller.close();
        await().untilAsserted(() -> assertThat(edge.listener.connections()).isZero());
        edge.close();
    }

    private String upload(String host) {
        caller.send("POST / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: " + BYTES + "\r\n\r\n");
        byte[] part = new byte[64 << 10];
        for (int sent = 0; sent < BYTES; sent += part.length) {
            caller.send(part);
        }
        return caller.readAll();
    }

    @Test
    void anUnknownHostIsSaid() {
        assertThat(upload("other.example")).startsWith("HTTP/1.1 404")
                .contains("Connection: close")
                .endsWith("}");
    }

    @ParameterizedTest
    @CsvSource({"NOT_ALLOWED, 403", "BODY_TOO_LARGE, 413", "NO_TUNNEL, 503"})
    void theReasonOfARefusalIsRead(Cause cause, String status) {
        edge.relay.answer(exchange -> exchange.fail(Problem.of(cause, Hop.TUNNEL, "why")));

        assertThat(upload(EdgeFixture.HOST)).startsWith("HTTP/1.1 " + status)
                .contains("Connection: close")
                .endsWith("}");
    }

    @Test
    void anAmbiguousRequestIsAnswered400() {
        caller.send("POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: " + BYTES + "\r\n\r\n");
        caller.send(new byte[BYTES]);

        assertThat(caller.readAll()).startsWith("HTTP/1.1 400").endsWith("}");
    }

    /** The edge keeps the connection, since the upstream refused the request and not the connection. */
    @ParameterizedTest
    @ValueSource(strings = {"413", "200"})
    void anEarlyResponseOfTheUpstreamIsRead(String status) throws Exception {
        edge.relay.answer(exchange -> exchange.head(status, false, "content-length", "2").body("no").end());
        caller.head("POST /", "Content-Length: " + BYTES).send(new byte[BYTES]).get("/next");

        assertThat(caller.readUntil("\r\n\r\nno")).startsWith("HTTP/1.1 " + status);
        assertThat(caller.readUntil("\r\n\r\nno")).startsWith("HTTP/1.1 " + status);
        assertThat(edge.relay.all).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({"other.example, 404", EdgeFixture.HOST + ", 413"})
    void aCallerThatNeverStopsIsReadAtItsSourcesRate(String host, int status) throws Exception {
        edge.relay.answer(exchange -> exchange.head("413", false, "content-length", "2").body("no").end());
        caller.send("POST / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: " + (1L << 40) + "\r\n\r\n");
        assertThat(caller.readHead()).startsWith("HTTP/1.1 " + status);
        long began = System.nanoTime();
        AtomicLong sent = new AtomicLong();
        Thread sender = Thread.ofVirtual().start(() -> sendWithoutEnd(sent));
        int buffers = 32 << 20; // at most, of both sockets

        await().until(() -> sent.get() >= DiscardAccounts.OF_SOURCE.burst());
        await().during(1, TimeUnit.SECONDS).until(() -> {
            double seconds = (System.nanoTime() - began) / 1e9;
            return sent.get() < DiscardAccounts.OF_SOURCE.burst() + buffers
                    + seconds * DiscardAccounts.OF_SOURCE.perSecond();
        });

        caller.reset();
        sender.join();
    }

    private void sendWithoutEnd(AtomicLong sent) {
        byte[] part = new byte[64 << 10];
        try {
            while (true) {
                caller.send(part);
                sent.addAndGet(part.length);
            }
        } catch (UncheckedIOException e) {
            // the test has ended
        }
    }
}
