package dev.culvert.handlers.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

class EdgeRequestTest {
    private final HttpHeaders headers = new DefaultHttpHeaders();

    @Test
    void aggregatesTheBodyAndReleasesItsBuffers() {
        List<ByteBuf> buffers = List.of(buffer(3), buffer(4));

        StepVerifier.create(request(Flux.fromIterable(buffers)).aggregate(7))
                .assertNext(bytes -> assertThat(bytes).hasSize(7))
                .verifyComplete();

        assertThat(buffers).allMatch(buffer -> buffer.refCnt() == 0);
    }

    @Test
    void noBodyAggregatesToNoBytes() {
        StepVerifier.create(request(Flux.empty()).aggregate(7))
                .assertNext(bytes -> assertThat(bytes).isEmpty())
                .verifyComplete();
    }

    @Test
    void stopsReadingABodyThatIsTooLarge() {
        TestPublisher<ByteBuf> body = TestPublisher.create();
        ByteBuf tooMuch = buffer(5);

        StepVerifier.create(request(body.flux()).aggregate(7))
                .then(() -> body.next(buffer(3), tooMuch))
                .verifyErrorSatisfies(EdgeRequestTest::assertTooLarge);

        body.assertCancelled();
        assertThat(tooMuch.refCnt()).isZero();
    }

    @Test
    void doesNotReadABodyThatAnnouncesTooMuch() {
        TestPublisher<ByteBuf> body = TestPublisher.create();
        headers.set("content-length", "8");

        StepVerifier.create(request(body.flux()).aggregate(7))
                .verifyErrorSatisfies(EdgeRequestTest::assertTooLarge);

        body.assertWasNotSubscribed();
    }

    @Test
    void aBodyThatTricklesIsDroppedAtItsDeadline() {
        var ended = new AtomicBoolean();
        StepVerifier
                .withVirtualTime(() -> request(Flux.interval(Duration.ofSeconds(1))
                        .map(second -> buffer(1))
                        .doOnCancel(() -> ended.set(true))).aggregate(64 << 10))
                .expectSubscription()
                .expectNoEvent(Duration.ofSeconds(21))
                .thenAwait(Duration.ofSeconds(1))
                .verifyErrorSatisfies(error -> assertThat(((HandlerException) error).reason())
                        .isEqualTo(Reason.REQUEST_TIMEOUT));
        assertThat(ended).isTrue();
    }

    @Test
    void cancellingStopsReading() {
        TestPublisher<ByteBuf> body = TestPublisher.create();

        StepVerifier.create(request(body.flux()).aggregate(7))
                .then(() -> body.next(buffer(1)))
                .thenCancel()
                .verify();

        body.assertCancelled();
    }

    @Test
    void splitsTheTargetAtItsFirstQuestionMark() {
        var request = new EdgeRequest(HttpMethod.GET, "/a%3f?b?c", headers, Flux.empty(), context());

        assertThat(request.path()).isEqualTo("/a%3f");
        assertThat(request.query()).isEqualTo("b?c");
    }

    private static void assertTooLarge(Throwable error) {
        assertThat(error).isInstanceOfSatisfying(HandlerException.class,
                e -> assertThat(e.reason()).isEqualTo(Reason.BODY_TOO_LARGE));
    }

    private EdgeRequest request(Flux<ByteBuf> body) {
        return new EdgeRequest(HttpMethod.POST, "/", headers, body, context());
    }

    private static RequestContext context() {
        return RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1));
    }

    private static ByteBuf buffer(int bytes) {
        return Unpooled.buffer().writeZero(bytes);
    }
}
