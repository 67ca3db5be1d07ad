package dev.culvert.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Opens a stream for each exchange, on a connection that it shares. */
final class Http2Caller extends Caller {
    private final Http2Link link;
    private final Http2Headers head;
    private final boolean sends;

    Http2Caller(Load load, Http2Link link) {
        super(load);
        this.link = link;
        LoadPlan plan = load.plan;
        this.sends = plan.kind() == Kind.UPLOAD || plan.kind() == Kind.WEBHOOK;
        this.head = new DefaultHttp2Headers().method(sends ? "POST" : "GET")
                .scheme(plan.url().getScheme())
                .authority(Callers.host(plan))
                .path(Callers.target(plan.url()));
        if (sends) {
            head.set("content-type", "application/json").setInt("content-length", plan.bytes());
        }
    }

    @Override
    void exchange() {
        link.ask(this::open);
    }

    private void open(@Nullable Channel connection, @Nullable Throwable error) {
        if (connection == null) {
            failed(error == null ? "no connection" : reason(error));
            return;
        }
        new Http2StreamChannelBootstrap(connection).handler(new Stream())
                .open()
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (opened.isSuccess()) {
                        Http2StreamChannel stream = opened.getNow();
                        Objects.requireNonNull(stream.pipeline().get(Stream.class)).send(stream);
                    } else {
                        failed(reason(opened.cause()));
                    }
                });
    }

    private final class Stream extends ChannelInboundHandlerAdapter {
        private long unwritten;
        private String status = "no head";
        private boolean over;

        void send(Channel stream) {
            unwritten = sends ? load.plan.bytes() : 0;
            stream.write(new DefaultHttp2HeadersFrame(head, unwritten == 0), stream.voidPromise());
            sendBody(stream);
        }

        private void sendBody(Channel stream) {
            while (unwritten > 0 && stream.isWritable()) {
                ByteBuf part = Body.part(unwritten);
                unwritten -= part.readableBytes();
                load.moved(part.readableBytes());
                stream.write(new DefaultHttp2DataFrame(part, unwritten == 0), stream.voidPromise());
            }
            stream.flush();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            switch (message) {
                case Http2HeadersFrame headers -> {
                    CharSequence now = headers.headers().status();
                    status = now == null ? status : now.toString();
                    ended(headers.isEndStream());
                }
                case Http2DataFrame data -> {
                    load.moved(data.content().readableBytes());
                    boolean last = data.isEndStream();
                    data.release();
                    ended(last);
                }
                case Http2ResetFrame reset -> fails("the stream was reset: " + reset.errorCode());
                default -> ReferenceCountUtil.release(message);
            }
        }

        private void ended(boolean last) {
            if (!last || over) {
                return;
            }
            over = true;
            if (status.startsWith("2")) {
                succeeded();
            } else {
                failed("status " + status);
            }
        }

        private void fails(String reason) {
            if (!over) {
                over = true;
                failed(reason);
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            sendBody(ctx.channel());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fails("the stream was closed");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fails(reason(cause));
            ctx.close();
        }
    }
}
