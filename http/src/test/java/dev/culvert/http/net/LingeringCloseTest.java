package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
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

    /** Asks for more after each read, as an SslHandler does that received no bytes. */
    private static final class Asking extends ChannelInboundHandlerAdapter {
        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.read();
        }
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
