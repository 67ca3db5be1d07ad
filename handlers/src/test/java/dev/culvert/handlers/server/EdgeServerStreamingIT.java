package dev.culvert.handlers.server;

import static dev.culvert.handlers.server.ServerFixture.bytes;
import static dev.culvert.handlers.server.ServerFixture.stream;
import static dev.culvert.handlers.server.ServerFixture.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class EdgeServerStreamingIT {
    private static final String GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String GET_CLOSE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    @RegisterExtension
    final ServerFixture server = new ServerFixture();

    @Test
    void echoesABodyInBothDirectionsAtTheSameTime() throws IOException {
        server.start(request -> Mono
                .just(EdgeResponse.Http.streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(),
                        request.body())));

        try (var client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
            assertThat(client.readUntil("abc")).contains("transfer-encoding: chunked");
            client.send("4\r\ndefg\r\n");
            assertThat(client.readUntil("defg\r\n")).isEqualTo("\r\n4\r\ndefg\r\n");
            client.send("0\r\n\r\n");
            assertThat(client.readUntil("\r\n\r\n")).isEqualTo("0\r\n\r\n");
        }
    }

    @Test
    void aStalledReaderStopsTheSourceOfTheBody() throws IOException {
        var produced = new AtomicLong();
        Flux<ByteBuf> endless = Flux.generate(sink -> {
            produced.addAndGet(16 << 10);
            sink.next(Unpooled.buffer(16 << 10).writeZero(16 << 10));
        });
        server.start(request -> stream(endless));

        try (var client = server.connect()) {
            client.send(GET).readUntil("\r\n\r\n");
            var seen = new AtomicLong(-1);
            await().pollInterval(Duration.ofMillis(200))
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> seen.getAndSet(produced.get()) == produced.get());
            // The kernel's socket buffers of both ends, and our window.
            assertThat(produced.get()).isLessThan(16 << 20);
        }
    }

    @Test
    void anUploadIsReadAsFarAsTheHandlerDemands() throws IOException {
        var received = new AtomicLong();
        server.start(request -> readOne(request, received));

        try (var client = server.connect()) {
            client.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n" + "x".repeat(1 << 20));
            await().untilAsserted(() -> assertThat(received.get()).isPositive());
            assertThat(received.get()).isLessThan(256 << 10);
        }
    }

    @Test
    void aBodyThatFailsAfterItsHeadIsReset() throws IOException {
        server.start(request -> stream(
                Flux.concat(Flux.just(bytes("half")), Flux.error(new IOException("disk")))));

        String answer = server.exchange(GET_CLOSE);

        assertThat(answer).startsWith("HTTP/1.1 200").doesNotContain("0\r\n\r\n").endsWith("<reset>");
    }

    @Test
    void theCallerLeavingCancelsTheBody() throws IOException {
        var cancelled = new AtomicBoolean();
        server.start(request -> stream(Flux.<ByteBuf>never()
                .startWith(bytes("first"))
                .doOnCancel(() -> cancelled.set(true))));

        try (var client = server.connect()) {
            client.send(GET).readUntil("first");
        }

        await().untilTrue(cancelled);
    }

    @Test
    void theCallerLeavingCancelsTheHandler() throws IOException {
        var asked = new AtomicBoolean();
        var cancelled = new AtomicBoolean();
        server.start(request -> Mono.<EdgeResponse>never()
                .doOnSubscribe(s -> asked.set(true))
                .doOnCancel(() -> cancelled.set(true)));

        try (var client = server.connect()) {
            client.send(GET);
            await().untilTrue(asked);
        }

        await().untilTrue(cancelled);
    }

    @Test
    void aCallerThatWaitsForPermissionIsToldToContinue() throws IOException {
        server.start(request -> request.aggregate(100).flatMap(body -> text("got " + body.length)));

        try (var client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
            assertThat(client.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 100 Continue");
            assertThat(client.send("abc").readUntil("got 3")).startsWith("HTTP/1.1 200");
        }
    }

    @Test
    void anEarlyAnswerLeavesTheConnectionUsable() throws IOException {
        server.start(request -> request.method().equals(HttpMethod.POST)
                ? Mono.error(HandlerException.of(HandlerException.Reason.CONFLICT, "no"))
                : text("next"));

        try (var client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + "x".repeat(100_000));
            assertThat(client.readUntil("\"requestId\"")).startsWith("HTTP/1.1 409");
            client.send("x".repeat(100_000) + GET);
            assertThat(client.readUntil("next")).contains("HTTP/1.1 200");
        }
    }

    @Test
    void theSecondUploadOfAConnectionIsReadAsFarAsDemandedToo() throws IOException {
        var received = new AtomicLong();
        server.start(request -> {
            if (request.method().equals(HttpMethod.GET)) {
                return text("first");
            }
            return readOne(request, received);
        });

        try (var client = server.connect()) {
            client.send(GET).readUntil("first");
            client.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n" + "x".repeat(1 << 20));
            await().untilAsserted(() -> assertThat(received.get()).isPositive());
            assertThat(received.get()).isLessThan(256 << 10);
        }
    }

    @Test
    void sendsTheTrailersThatWereAnnounced() throws IOException {
        HttpHeaders trailers = new DefaultHttpHeaders().set("x-sum", "7");
        server.start(request -> Mono.just(new EdgeResponse.Http(HttpResponseStatus.OK,
                new DefaultHttpHeaders().set("trailer", "x-sum"), Flux.just(bytes("abc")),
                Mono.just(trailers))));

        assertThat(server.exchange(GET_CLOSE)).endsWith("3\r\nabc\r\n0\r\nx-sum: 7\r\n\r\n");
    }

    @Test
    void whatAResponseHoldsIsFreedWhenTheSocketHasTakenIt() throws IOException {
        int size = 32 << 20;
        var freed = new AtomicInteger();
        var emitted = new AtomicInteger();
        server.start(request -> Mono.just(
                EdgeResponse.Http.streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(),
                        Flux.<ByteBuf>defer(() -> Flux.just(Unpooled.wrappedBuffer(new byte[size])))
                                .doOnComplete(emitted::incrementAndGet))
                        .holding(Mono.<Void>never().doOnCancel(freed::incrementAndGet))));

        try (var reader = server.connect()) {
            reader.send(GET_CLOSE).readUntil("\r\n\r\n");
            try (var leaver = server.connect()) {
                leaver.send(GET_CLOSE).readUntil("\r\n\r\n");
                await().untilAsserted(() -> assertThat(emitted).hasValue(2));
                assertThat(freed).hasValue(0);
            }
            await().untilAsserted(() -> assertThat(freed).hasValue(1));
            reader.readAll();
            await().untilAsserted(() -> assertThat(freed).hasValue(2));
        }
        server.exchange("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        await().untilAsserted(() -> assertThat(freed).hasValue(3));
    }

    @Test
    void aHoldThatFailsResetsTheConnection() throws IOException {
        Sinks.Empty<Void> cut = Sinks.empty();
        server.start(request -> Mono.just(EdgeResponse.Http
                .streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(),
                        Flux.just(bytes("abc")).concatWith(Flux.never()))
                .holding(cut.asMono())));

        try (var client = server.connect()) {
            client.send(GET).readUntil("abc");
            cut.tryEmitError(HandlerException.of(HandlerException.Reason.OVERLOADED, "full"));
            assertThat(client.readAll()).isEqualTo("\r\n<reset>");
        }
    }

    /** Reads one buffer of the body and answers never. */
    private static Mono<EdgeResponse> readOne(EdgeRequest request, AtomicLong received) {
        var reader = new OneElement<ByteBuf>();
        request.body().doOnNext(buffer -> {
            received.addAndGet(buffer.readableBytes());
            buffer.release();
        }).subscribe(reader);
        return Mono.<EdgeResponse>never().doOnCancel(reader::cancel);
    }

    /** Demands one element and no more. */
    private static final class OneElement<T> extends BaseSubscriber<T> {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            request(1);
        }
    }
}
