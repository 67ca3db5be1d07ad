package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.Caller;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.quota.RuntimeUsage.Refusal;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.access.AccessRules;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.tunnel.HeldRequests;
import dev.culvert.server.tunnel.LiveSession;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.server.tunnel.TunnelEnds;
import dev.culvert.server.tunnel.TunnelRegistry;
import dev.culvert.server.tunnel.TunnelRelay;
import dev.culvert.server.tunnel.TunnelRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The streams of a runtime, shared by the addresses of its callers. */
class StreamShareTest {
    private static final int PLACES = 4;
    private static final SourceAddress NOISY = new SourceAddress(1, false);
    private static final SourceAddress QUIET = new SourceAddress(2, false);
    private static final RegisteredRuntime PROD = new RegisteredRuntime("id-1", "identity-1",
            new RuntimeName("acme", "prod"), "acme-prod.t.example", List.of(), Instant.EPOCH,
            Instant.EPOCH, new OwnLimits(Map.of(RuntimeLimit.MAX_STREAMS, (long) PLACES)), AccessRules.NONE,
            null, null);

    private final MovableClock clock = new MovableClock();
    private final RuntimeQuota quota = new RuntimeQuotas(CallerLimits.defaults().ofRuntime(),
            MemoryBudget.ofProcess(0)).of(PROD.id(), PROD.limits());
    private final TunnelRegistry registry = new TunnelRegistry(clock, new AtomicLong()::incrementAndGet,
            new ServerEvents(clock), new HeldRequests(MemoryBudget.ofProcess(0)));
    private final TunnelRelay relay = new TunnelRelay(registry, PROD, quota);
    private final EmbeddedChannel caller = new EmbeddedChannel();
    private final UUID instance = UUID.randomUUID();
    private final TunnelEnds ends = TunnelEnds.of(instance, 0, true);

    @BeforeEach
    void connect() {
        ends.drive();
        ends.live = TunnelEnds.admit(registry, PROD, ends.hello,
                generation -> new LiveSession(instance, PROD, ends.hello,
                        generation, ends.handler(), clock.instant(), "127.0.0.1:1"));
        ends.handler().ready(1, 2, ends.live().generation, "acme/prod", PROD.host());
        ends.drive();
    }

    @AfterEach
    void everyPlaceIsGivenBack() {
        ends.close();
        caller.finishAndReleaseAll();
        assertThat(quota.streams().used()).isZero();
        assertThat(quota.streams().sources()).isZero();
    }

    private void drive() {
        for (int i = 0; i < 3; i++) {
            caller.advanceTimeBy(TunnelRequest.YIELD.toMillis(), TimeUnit.MILLISECONDS);
            caller.runPendingTasks();
            caller.runScheduledPendingTasks();
            ends.drive();
        }
    }

    /** A request whose body does not come. */
    private final class Silent implements ResponseSink {
        final RequestSink request;
        @Nullable
        Problem problem;
        String status = "";

        Silent(SourceAddress source) {
            this(source, -1);
        }

        /** @param length announced; -1: none is */
        Silent(SourceAddress source, int length) {
            Http2Headers head = new DefaultHttp2Headers(false, 4).method("POST")
                    .scheme("https")
                    .authority("a")
                    .path("/");
            if (length >= 0) {
                head.setInt("content-length", length);
            }
            request = relay.open(
                    new RelayRequest(RelayRequest.Kind.HTTP, head, false, caller.eventLoop(),
                            new Caller(null, source, null)),
                    this);
            drive();
        }

        void leave() {
            request.cancel(Problem.of(Cause.BAD_REQUEST, Problem.Hop.EDGE, "gone"));
            drive();
        }

        @Nullable
        Cause failure() {
            return problem == null ? null : problem.cause();
        }

        @Override
        public void informational(Http2Headers head) {}

        @Override
        public void head(Http2Headers head, boolean ended) {
            status = String.valueOf(head.status());
        }

        @Override
        public void data(ByteBuf body) {
            body.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {}

        @Override
        public void fail(Problem failed) {
            assertThat(problem).isNull();
            problem = failed;
        }

        @Override
        public void consumed(int bytes) {}
    }

    private List<Silent> fill() {
        List<Silent> all = new ArrayList<>();
        for (int i = 0; i < PLACES; i++) {
            all.add(new Silent(NOISY));
        }
        return all;
    }

    @Test
    void aNewcomerTakesTheNoisiestSourcesNewestStream() {
        List<Silent> noisy = fill();

        Silent quiet = new Silent(QUIET);
        quiet.request.end(null);
        drive();
        ends.answer("200");
        drive();

        assertThat(quiet.status).isEqualTo("200");
        assertThat(noisy).extracting(Silent::failure).containsExactly(null, null, null, Cause.OVERLOADED);
        assertThat(ends.handler().streamCount()).isEqualTo(PLACES - 1);
        assertThat(quota.usage().refusals(Refusal.STREAMS)).isEqualTo(1);
        noisy.forEach(Silent::leave);
    }

    @Test
    void aBodyThatWasAnnouncedTakesItsStreamWhenItComes() {
        List<Silent> silent = new ArrayList<>();
        for (int i = 0; i < 2 * PLACES; i++) {
            silent.add(new Silent(NOISY, 1));
        }
        assertThat(quota.streams().used()).isZero();
        assertThat(ends.handler().streamCount()).isZero();

        Silent first = silent.getFirst();
        first.request.data(Unpooled.wrappedBuffer(new byte[1]));
        first.request.end(null);
        drive();
        ends.answer("200");
        drive();

        assertThat(first.status).isEqualTo("200");
        assertThat(quota.streams().used()).isZero();
        silent.subList(1, silent.size()).forEach(Silent::leave);
    }

    @Test
    void whoseRuntimeIsAwayIsToldSoBeforeItsBody() {
        lose();
        assertThat(new Silent(NOISY, 1).failure()).isNull(); // it is expected back

        clock.advance(Duration.ofMinutes(1));

        assertThat(new Silent(NOISY, 1).failure()).isEqualTo(Cause.NO_TUNNEL);
    }

    @Test
    void nobodyTakesMoreThanAnEqualShare() {
        List<Silent> noisy = fill();
        List<Silent> quiet = List.of(new Silent(QUIET), new Silent(QUIET), new Silent(QUIET));

        assertThat(noisy).extracting(Silent::failure)
                .containsExactly(null, null, Cause.OVERLOADED, Cause.OVERLOADED);
        assertThat(quiet).extracting(Silent::failure).containsExactly(null, null, Cause.OVERLOADED);
        noisy.forEach(Silent::leave);
        quiet.forEach(Silent::leave);
    }

    @Test
    void theOnlySourceIsRefusedWhenAllIsTaken() {
        List<Silent> noisy = fill();

        assertThat(new Silent(NOISY).failure()).isEqualTo(Cause.OVERLOADED);
        noisy.getFirst().leave();
        Silent next = new Silent(NOISY);

        assertThat(next.failure()).isNull();
        noisy.forEach(Silent::leave);
        next.leave();
    }

    @Test
    void aRequestThatHasGivenWayIsNotOpened() {
        lose();
        List<Silent> noisy = fill();
        Silent quiet = new Silent(QUIET);

        assertThat(noisy.getLast().failure()).isEqualTo(Cause.OVERLOADED);
        assertThat(registry.held().count()).isEqualTo(PLACES);
        noisy.forEach(Silent::leave);
        quiet.leave();
        assertThat(registry.held().count()).isZero();
    }

    private void lose() {
        ends.breakOff();
        ends.drive();
        registry.remove(ends.live());
    }

    @Test
    void aPlaceIsHeldUntilBothHalvesHaveEnded() {
        Silent asked = new Silent(NOISY);
        ends.answer("200");
        drive();
        assertThat(asked.status).isEqualTo("200");
        assertThat(quota.streams().used()).isEqualTo(1);

        asked.request.end(null);

        assertThat(quota.streams().used()).isZero();
    }
}
