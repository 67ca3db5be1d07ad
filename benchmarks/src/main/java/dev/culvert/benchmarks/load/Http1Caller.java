package dev.culvert.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Has one connection, which it keeps. */
class Http1Caller extends Caller {
    private static final int MAX_CHUNK = 64 << 10;

    private final @Nullable SslContext tls;
    private final ByteBuf head;
    private @Nullable Channel channel;
    /** The bytes of the request's body that are not written yet. */
    private long unwritten;
    private int status;
    private boolean closing;

    Http1Caller(Load load, @Nullable SslContext tls) {
        super(load);
        this.tls = tls;
        this.head = Unpooled.unreleasableBuffer(
                Unpooled.copiedBuffer(head(load.plan), StandardCharsets.ISO_8859_1).asReadOnly());
    }

    private static String head(LoadPlan plan) {
        boolean sends = plan.kind().sends();
        return (sends ? "POST " : "GET ") + Callers.target(plan.url()) + " HTTP/1.1\r\nhost: "
                + Callers.host(plan)
                + (sends ? "\r\ncontent-type: application/json\r\ncontent-length: " + plan.bytes() : "")
                + "\r\n\r\n";
    }

    @Override
    void exchange() {
        Channel present = channel;
        if (present == null) {
            connect();
        } else {
            send(present);
        }
    }

    private void connect() {
        load.bootstrap()
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel opened) {
                        load.opened(opened);
                        if (tls != null) {
                            opened.pipeline().addLast(tls.newHandler(opened.alloc()));
                        }
                        opened.pipeline()
                                .addLast(new HttpResponseDecoder(
                                        new HttpDecoderConfig().setMaxChunkSize(MAX_CHUNK)),
                                        new Answers());
                    }
                })
                .connect(Callers.address(load.plan.url()))
                .addListener((ChannelFutureListener) done -> {
                    if (done.isSuccess()) {
                        channel = done.channel();
                        send(done.channel());
                    } else {
                        failed(reason(done.cause()));
                    }
                });
    }

    private void send(Channel to) {
        unwritten = load.plan.kind().sends() ? load.plan.bytes() : 0;
        to.write(head.retainedDuplicate(), to.voidPromise());
        sendBody(to);
    }

    private void sendBody(Channel to) {
        while (unwritten > 0 && to.isWritable()) {
            ByteBuf part = Body.part(unwritten);
            unwritten -= part.readableBytes();
            load.moved(part.readableBytes());
            to.write(part, to.voidPromise());
        }
        to.flush();
    }

    /** A part of the response's body has come. The buffer is the caller's. */
    void received(ByteBuf part) {
        load.moved(part.readableBytes());
    }

    /** Reads nothing more from the connection. */
    final void stall() {
        if (channel != null) {
            channel.config().setAutoRead(false);
        }
    }

    /** The response is whole. */
    private void ended() {
        boolean early = unwritten > 0;
        if (closing || early) {
            drop();
        }
        if (status >= 200 && status < 300 && !early) {
            whole();
        } else {
            failed(early ? "answered " + status + " before the body was sent" : "status " + status);
        }
    }

    /** The response is whole, and it is a success. */
    void whole() {
        succeeded();
    }

    private void drop() {
        Channel dropped = channel;
        channel = null;
        if (dropped != null) {
            dropped.close();
        }
    }

    private final class Answers extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
                ReferenceCountUtil.release(message);
                exceptionCaught(ctx, part.decoderResult().cause());
                return;
            }
            if (message instanceof HttpResponse response) {
                status = response.status().code();
                closing = !HttpUtil.isKeepAlive(response);
            }
            if (message instanceof HttpContent content) {
                received(content.content());
                boolean last = content instanceof LastHttpContent;
                content.release();
                if (last && status >= 200) {
                    ended();
                }
            } else if (!(message instanceof HttpResponse)) {
                ReferenceCountUtil.release(message);
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            sendBody(ctx.channel());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (ctx.channel().equals(channel)) {
                channel = null;
                failed("the connection was closed");
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (ctx.channel().equals(channel)) {
                channel = null;
                failed(reason(cause));
            }
            ctx.close();
        }
    }
}
