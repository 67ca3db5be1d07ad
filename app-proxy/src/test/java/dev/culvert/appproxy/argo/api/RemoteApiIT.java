package dev.culvert.appproxy.argo.api;

import static dev.culvert.appproxy.argo.ArgoFixture.TIME;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.net.EventLoops;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.test.StepVerifier;

/** A server that never stops sending, and one that never answers. */
@SuppressWarnings("NullAway.Init")
class RemoteApiIT {
    private static final int CHUNK = 16 << 10;
    /** Socket buffers of both ends, and a few chunks. */
    private static final long MAX = 24L << 20;

    private final EventLoops loops = EventLoops.create(1);
    private final AtomicLong sent = new AtomicLong();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private DisposableServer server;
    private RemoteApi api;

    @BeforeEach
    void start() {
        server = Objects.requireNonNull(HttpServer.create()
                .runOn(loops)
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .route(routes -> routes
                        .get("/flood", (request, response) -> response.send(flood(), chunk -> true))
                        .get("/text", (request, response) -> response.sendString(Flux.just("no JSON"))))
                .bind()
                .block(TIME));
        api = new RemoteApi("the API", "handlers.x",
                ApiSettings.of(URI.create("http://127.0.0.1:" + server.port())));
        api.open().block(TIME);
    }

    @AfterEach
    void stop() {
        api.close().block(TIME);
        server.disposeNow();
        loops.disposeLater(Duration.ZERO, TIME).block(TIME);
    }

    @Test
    void aReaderThatStallsStallsTheSenderAndOneThatLeavesStopsIt() {
        StepVerifier.create(api.stream("/flood", "*/*").flatMapMany(body -> body), 1)
                .expectNextCount(1)
                .then(() -> await().atMost(TIME)
                        .during(Duration.ofMillis(300))
                        .until(() -> sent.get() < MAX && sent.get() > CHUNK))
                .thenRequest(3)
                .expectNextCount(3)
                .thenCancel()
                .verify(TIME);

        assertThat(sent.get()).isLessThan(MAX);
        await().atMost(TIME).untilTrue(stopped);
    }

    @Test
    void anAnswerWithoutEndIsCutOff() {
        StepVerifier.create(api.read("/flood"))
                .verifyErrorSatisfies(e -> assertThat(e).hasMessageContaining("larger than"));

        await().atMost(TIME).untilTrue(stopped);
    }

    @Test
    void anAnswerThatIsNoJsonIsAnError() {
        StepVerifier.create(api.read("/text"))
                .verifyErrorSatisfies(e -> assertThat(e).hasMessage("the answer is not JSON"));
    }

    private Flux<ByteBuf> flood() {
        byte[] chunk = new byte[CHUNK];
        return Flux.<ByteBuf>generate(sink -> sink.next(Unpooled.wrappedBuffer(chunk)))
                .doOnNext(one -> sent.addAndGet(CHUNK))
                .doFinally(end -> stopped.set(true));
    }
}
