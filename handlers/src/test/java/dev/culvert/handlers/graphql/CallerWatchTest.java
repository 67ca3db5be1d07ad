package dev.culvert.handlers.graphql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class CallerWatchTest {
    private final AtomicReference<@Nullable Reason> refusal = new AtomicReference<>();
    private final AtomicInteger asked = new AtomicInteger();
    private final CallerWatch watch = new CallerWatch(this::account, CallerWatch.PAUSE);

    private Mono<?> account(EdgeRequest request) {
        asked.incrementAndGet();
        assertThat(request.context().caller()).isNull();
        Reason refused = refusal.get();
        return refused == null ? Mono.just("acme/jo") : Mono.error(HandlerException.of(refused, "no"));
    }

    private Mono<Void> ended() {
        return watch.ended(new EdgeRequest(HttpMethod.POST, "/", new DefaultHttpHeaders(), Flux.empty(),
                RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1))
                        .withCaller(() -> "known before")));
    }

    @Test
    void revokedCredentialsEndItWithinFiveSeconds() {
        StepVerifier.withVirtualTime(this::ended)
                .expectSubscription()
                .expectNoEvent(Duration.ofMinutes(10))
                .then(() -> refusal.set(Reason.UNAUTHORIZED))
                .thenAwait(Duration.ofSeconds(5))
                .verifyErrorMatches(error -> ((HandlerException) error).reason() == Reason.UNAUTHORIZED);
    }

    @Test
    void aMomentWithoutAnAnswerEndsNothing() {
        StepVerifier.withVirtualTime(this::ended)
                .expectSubscription()
                .then(() -> refusal.set(Reason.UNAVAILABLE))
                .expectNoEvent(Duration.ofSeconds(50))
                .then(() -> refusal.set(null))
                .expectNoEvent(Duration.ofSeconds(10))
                .then(() -> refusal.set(Reason.UNAVAILABLE))
                .expectNoEvent(Duration.ofSeconds(50))
                .thenAwait(Duration.ofSeconds(20))
                .verifyErrorMatches(error -> ((HandlerException) error).reason() == Reason.UNAVAILABLE);
    }

    @Test
    void nobodyIsAskedOnceItIsLeft() {
        StepVerifier.withVirtualTime(this::ended)
                .expectSubscription()
                .thenAwait(Duration.ofSeconds(9))
                .thenCancel()
                .verify();

        assertThat(asked).hasValue(4);
    }
}
