package dev.culvert.handlers.body;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.Quota;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.scheduler.VirtualTimeScheduler;

class BodyIntakeTest {
    private static final int MAX = 8 << 20;

    private final Quota<Object> memory = new Quota<>(1 << 20);
    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final BodyIntake intake = new BodyIntake(memory, clock);

    /** A body on its way, and what became of it. */
    private static final class Sent {
        final TestPublisher<ByteBuf> body = TestPublisher.create();
        final AtomicReference<@Nullable HeldBody> held = new AtomicReference<>();
        final AtomicReference<@Nullable Throwable> error = new AtomicReference<>();

        void part(int bytes) {
            ByteBuf part = Unpooled.wrappedBuffer(new byte[bytes]);
            body.next(part);
            assertThat(part.refCnt()).isZero();
        }

        void failedWith(Reason reason) {
            assertThat(error.get()).isInstanceOfSatisfying(HandlerException.class,
                    refusal -> assertThat(refusal.reason()).isEqualTo(reason));
            body.assertCancelled();
        }
    }

    @AfterEach
    void stop() {
        clock.dispose();
    }

    @Test
    void aBodyIsWhatWasSentInWhateverParts() throws IOException {
        byte[] bytes = new byte[200_000];
        new Random(7).nextBytes(bytes);
        Flux<ByteBuf> parts = Flux.range(0, 200)
                .map(i -> Unpooled.wrappedBuffer(Arrays.copyOfRange(bytes, i * 1000, (i + 1) * 1000)));

        try (HeldBody body = Objects.requireNonNull(intake.read(parts, "a", MAX).block())) {
            assertThat(body.size()).isEqualTo(bytes.length);
            assertThat(body.stream().readAllBytes()).isEqualTo(bytes);
            var again = new ByteArrayOutputStream();
            body.parts().doOnNext(part -> write(part, again)).blockLast();
            assertThat(again.toByteArray()).isEqualTo(bytes);
        }
        assertThat(memory.used()).isZero();
    }

    @Test
    void aBodyOfGzipIsItsContentInWhateverParts() throws IOException {
        byte[] bytes = new byte[100_000];
        new Random(7).nextBytes(bytes);
        byte[] packed = gzip(bytes);
        Flux<ByteBuf> parts = Flux.range(0, packed.length)
                .map(i -> Unpooled.copiedBuffer(packed, i, 1));

        try (HeldBody body = Objects.requireNonNull(intake.readGzip(parts, "a", MAX).block())) {
            assertThat(body.stream().readAllBytes()).isEqualTo(bytes);
        }
        assertThat(memory.used()).isZero();
    }

    @Test
    void aBodyOfGzipIsMeasuredByItsContent() {
        byte[] packed = gzip(new byte[64 << 20]);

        refused(packed, Reason.BODY_TOO_LARGE);
    }

    @Test
    void aBodyThatIsNoGzipIsRefused() {
        byte[] packed = gzip(new byte[1000]);

        refused(new byte[0], Reason.BAD_REQUEST);
        refused("plain".getBytes(StandardCharsets.US_ASCII), Reason.BAD_REQUEST);
        for (int length = 1; length < packed.length; length++) {
            refused(Arrays.copyOf(packed, length), Reason.BAD_REQUEST);
        }
        packed[packed.length / 2] ^= 0x55;
        refused(packed, Reason.BAD_REQUEST);
    }

    private void refused(byte[] packed, Reason reason) {
        Mono<HeldBody> body = intake.readGzip(Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(packed))),
                "a",
                64 << 10);

        assertThatThrownBy(body::block).isInstanceOfSatisfying(HandlerException.class,
                refusal -> assertThat(refusal.reason()).isEqualTo(reason));
        assertThat(memory.used()).isZero();
    }

    private static byte[] gzip(byte[] bytes) {
        var packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            gzip.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return packed.toByteArray();
    }

    @Test
    void aWholeBodyThatNobodyTakesCostsNothing() {
        var untaken = new BaseSubscriber<HeldBody>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                // asks for nothing
            }
        };
        intake.read(Flux.just(Unpooled.wrappedBuffer(new byte[100])), "a", MAX).subscribe(untaken);
        assertThat(memory.used()).isPositive();

        untaken.cancel();

        assertThat(memory.used()).isZero();
    }

    @Test
    void partsOfOneByteAreMerged() {
        Sent sent = send("a");

        for (int i = 0; i < 3000; i++) {
            sent.part(1);
        }

        assertThat(memory.used()).isEqualTo(BodyIntake.REQUEST_BYTES + (1 << 10) + (2 << 10));
    }

    @Test
    void theHeaviestAccountGivesWay() {
        Sent first = send("noisy");
        Sent second = send("noisy");
        fill(first, 400 << 10);
        fill(second, 400 << 10);
        Sent quiet = send("quiet");

        fill(quiet, 300 << 10);
        quiet.body.complete();

        second.failedWith(Reason.OVERLOADED);
        assertThat(first.error.get()).isNull();
        assertThat(quiet.held.get()).isNotNull();
    }

    @Test
    void oneAccountsWholeBodiesHaveHalf() {
        Sent first = send("a");
        fill(first, 400 << 10);
        first.body.complete();
        Sent second = send("a");
        fill(second, 400 << 10);

        second.body.complete();

        assertThat(second.error.get()).isInstanceOfSatisfying(HandlerException.class,
                refusal -> assertThat(refusal.reason()).isEqualTo(Reason.OVERLOADED));
        Objects.requireNonNull(first.held.get()).close();
        assertThat(memory.used()).isZero();
    }

    @Test
    void aBodyThatDripsIsGivenUp() {
        Sent sent = send("a");

        for (int second = 0; second < 21; second++) {
            assertThat(sent.error.get()).isNull();
            sent.part(10);
            clock.advanceTimeBy(Duration.ofSeconds(1));
        }

        sent.failedWith(Reason.REQUEST_TIMEOUT);
        assertThat(memory.used()).isZero();
    }

    @Test
    void aBodyThatComesSteadilyHasItsTime() {
        Sent sent = send("a");

        for (int second = 0; second < 10; second++) {
            sent.part(Patience.BYTES_PER_SECOND);
            clock.advanceTimeBy(Duration.ofSeconds(2));
        }
        sent.body.complete();

        Objects.requireNonNull(sent.held.get()).close();
    }

    @Test
    void moreThanABodyMayHaveIsRefusedAtOnce() {
        Sent sent = new Sent();
        var _ = intake.read(sent.body.flux(), "a", 100).subscribe(sent.held::set, sent.error::set);

        sent.part(101);

        sent.failedWith(Reason.BODY_TOO_LARGE);
        assertThat(memory.used()).isZero();
    }

    @Test
    void whoLeavesFreesWhatArrived() {
        Sent sent = new Sent();
        var reading = intake.read(sent.body.flux(), "a", MAX).subscribe();
        sent.part(100);

        reading.dispose();

        sent.body.assertCancelled();
        assertThat(memory.used()).isZero();
        assertThat(memory.accounts()).isZero();
    }

    private static void write(ByteBuf part, ByteArrayOutputStream to) {
        byte[] bytes = new byte[part.readableBytes()];
        part.readBytes(bytes).release();
        to.writeBytes(bytes);
    }

    private Sent send(String account) {
        var sent = new Sent();
        var _ = intake.read(sent.body.flux(), account, MAX).subscribe(sent.held::set, sent.error::set);
        return sent;
    }

    private static void fill(Sent sent, int bytes) {
        for (int i = 0; i < bytes; i += 10 << 10) {
            sent.part(10 << 10);
        }
    }
}
