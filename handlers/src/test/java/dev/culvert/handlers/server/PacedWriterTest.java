package dev.culvert.handlers.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

class PacedWriterTest {
    private final Stalled socket = new Stalled();
    private final EmbeddedChannel channel = new EmbeddedChannel(socket);
    private final TestPublisher<ByteBuf> source = TestPublisher.create();
    private final PacedWriter<ByteBuf> writer = new PacedWriter<>(channel, source, ByteBuf::readableBytes);

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void demandsNoMoreOnceTheWindowIsFull() {
        var written = writer.toFuture();

        source.assertMinRequested(1);
        source.next(buffer(PacedWriter.WINDOW_BYTES - 1));
        source.assertMinRequested(1);
        source.next(buffer(1));

        assertThat(source.assertMaxRequested(0)).isNotNull();
        socket.flushOne();
        source.assertMinRequested(1);
        written.cancel(true);
    }

    @Test
    void completesWhenEverythingIsFlushed() {
        StepVerifier.create(writer)
                .then(() -> source.next(buffer(5)))
                .then(source::complete)
                .then(() -> assertThat(socket.waiting).hasSize(1))
                .then(socket::flushOne)
                .verifyComplete();
    }

    @Test
    void failsAsItsSourceFails() {
        StepVerifier.create(writer)
                .then(() -> source.error(new IOException("disk")))
                .verifyErrorMessage("disk");
    }

    @Test
    void cancellingCancelsTheSourceAndReleasesWhatStillComes() {
        ByteBuf late = buffer(1);
        TestPublisher<ByteBuf> careless = TestPublisher
                .createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);

        StepVerifier.create(new PacedWriter<>(channel, careless, ByteBuf::readableBytes))
                .thenCancel()
                .verify();
        careless.next(late);

        careless.assertCancelled();
        assertThat(late.refCnt()).isZero();
    }

    @Test
    void aClosedChannelEndsItAndCancelsTheSource() {
        StepVerifier.create(writer).then(() -> channel.close()).verifyComplete();

        source.assertCancelled();
    }

    @Test
    void aFailedWriteClosesTheChannel() {
        StepVerifier.create(writer).then(() -> source.next(buffer(1))).then(socket::failOne).verifyComplete();

        assertThat(channel.isOpen()).isFalse();
        source.assertCancelled();
    }

    private static ByteBuf buffer(int bytes) {
        return Unpooled.buffer().writeZero(bytes);
    }

    /** A socket that takes nothing until it is told to. */
    private static final class Stalled extends ChannelOutboundHandlerAdapter {
        private final Queue<ChannelPromise> waiting = new ArrayDeque<>();

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            ReferenceCountUtil.release(message);
            waiting.add(promise);
        }

        void flushOne() {
            waiting.remove().setSuccess();
        }

        void failOne() {
            waiting.remove().setFailure(new IOException("reset by peer"));
        }
    }
}
