package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class LingeringCloseTest {
    /** Counts the reads from its socket. */
    private static final class ReadChannel extends EmbeddedChannel {
        private int reads;

        @Override
        protected void doBeginRead() {
            reads++;
        }
    }

    /** A socket that accepts as many bytes as the test says. */
    private static final class SlowChannel extends EmbeddedChannel {
        private long accepts;
        private @Nullable ChannelFuture last;

        private ChannelFuture last() {
            return Objects.requireNonNull(last);
        }

        @Override
        protected void doWrite(ChannelOutboundBuffer in) throws Exception {
            if (accepts >= in.totalPendingWriteBytes()) {
                super.doWrite(in);
            } else if (accepts > 0) {
                in.removeBytes(accepts);
            }
            accepts = 0;
        }

        private void accept(long bytes) {
            accepts = bytes;
            flush();
        }

        private void pass(long seconds) {
            advanceTimeBy(seconds, TimeUnit.SECONDS);
            runScheduledPendingTasks();
        }
    }

    private static SlowChannel closing() {
        var channel = new SlowChannel();
        channel.freezeTime();
        channel.last = channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[100_000]));
        LingeringClose.begin(channel, channel.last());
        return channel;
    }

    /** Asks for more after each read, as an SslHandler does that received no bytes. */
    private static final class Asking extends ChannelInboundHandlerAdapter {
        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.read();
        }
    }

    @Test
    void aPeerThatReadsSlowlyGetsTheWholeResponse() {
        SlowChannel channel = closing();
        for (int i = 1; i < 5; i++) {
            channel.pass(LingeringClose.STALL_SECONDS - 1);
            channel.accept(20_000);
        }
        assertThat(channel.isOpen()).isTrue();
        channel.accept(100_000);

        assertThat(channel.last().isSuccess()).isTrue();
    }

    @Test
    void aPeerThatReadsNothingIsCut() {
        SlowChannel channel = closing();
        channel.pass(LingeringClose.STALL_SECONDS - 1);
        assertThat(channel.isOpen()).isTrue();
        channel.pass(2);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aPeerThatReadsAByteAtATimeIsCutAtLast() {
        SlowChannel channel = closing();
        for (int i = 0; channel.isOpen() && i < 100; i++) {
            channel.accept(1);
            channel.pass(LingeringClose.STALL_SECONDS + 1);
        }
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void nothingIsReadWhileTheRateIsExceeded() {
        ReadChannel channel = new ReadChannel();
        channel.freezeTime();
        channel.pipeline().addLast(new Asking());
        LingeringClose.begin(channel, channel.newPromise());
        channel.writeInbound(Unpooled.wrappedBuffer(new byte[60 << 20]));
        int before = channel.reads;

        channel.writeInbound(Unpooled.wrappedBuffer(new byte[20 << 20])); // a second's rate above the burst

        assertThat(channel.reads).isEqualTo(before);
        channel.advanceTimeBy(2, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(channel.reads).isGreaterThan(before);
        channel.close();
    }
}
