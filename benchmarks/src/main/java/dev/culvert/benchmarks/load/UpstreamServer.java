package dev.culvert.benchmarks.load;

import dev.culvert.http.net.EventLoops;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The upstream behind all targets, a program of its own. It has one event loop, speaks HTTP/1.1 without TLS
 * on 127.0.0.1, and answers
 *
 * <pre>
 *  GET  /f                200 bytes
 *  GET  /bytes/N          N bytes
 *  POST /upload, /webhooks/…   2 bytes, when all was read
 *  GET  /events/N         an event stream: N events a second, each the time at which it was written
 *  GET  /echo             a WebSocket that sends back what it gets
 * </pre>
 */
public final class UpstreamServer {
    private static final int SMALL_BYTES = 200;
    private static final int MAX_CHUNK = 64 << 10;
    private static final int BACKLOG = 4096;
    private static final int MAX_MESSAGE = 16 << 20;

    private UpstreamServer() {}

    /** Prints {@code listening 127.0.0.1:PORT} when it is ready, and runs until the process ends. */
    public static void main(String[] arguments) {
        Channel server = start(EventLoops.create(1));
        System.out.println("listening 127.0.0.1:" + port(server));
        server.closeFuture().syncUninterruptibly();
    }

    static Channel start(EventLoops loops) {
        return new ServerBootstrap().group(loops.group())
                .channel(loops.serverChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(new HttpRequestDecoder(
                                        new HttpDecoderConfig().setMaxChunkSize(MAX_CHUNK)),
                                        new Answers());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    static int port(Channel server) {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /** Answers one request after the other. */
    private static final class Answers extends ChannelInboundHandlerAdapter {
        private static final Pattern NUMBERED = Pattern.compile("/(bytes|events)/([0-9]{1,12})");
        private static final ByteBuf SMALL = fixed("200 OK", "x".repeat(SMALL_BYTES));
        private static final ByteBuf TAKEN = fixed("200 OK", "ok");
        private static final ByteBuf ABSENT = fixed("404 Not Found", "");
        private static final String EVENTS = """
                HTTP/1.1 200 OK\r
                content-type: text/event-stream\r
                transfer-encoding: chunked\r
                \r
                """;

        private String path = "";
        /** The bytes of the present response that are not written yet. */
        private long unwritten;
        private @Nullable Future<?> events;

        private static ByteBuf fixed(String status, String body) {
            return Unpooled.unreleasableBuffer(text("HTTP/1.1 " + status
                    + "\r\ncontent-type: text/plain\r\ncontent-length: " + body.length() + "\r\n\r\n"
                    + body).asReadOnly());
        }

        private static ByteBuf text(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            return Unpooled.directBuffer(bytes.length).writeBytes(bytes);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof HttpRequest request) {
                path = request.uri();
                if (path.equals("/echo")) {
                    upgrade(ctx, request);
                    return;
                }
            }
            boolean last = message instanceof LastHttpContent;
            if (message instanceof HttpContent content) {
                content.release();
            }
            if (last) {
                answer(ctx);
            }
        }

        private void answer(ChannelHandlerContext ctx) {
            Matcher numbered = NUMBERED.matcher(path);
            if (numbered.matches()) {
                long number = Long.parseLong(numbered.group(2));
                if ("bytes".equals(numbered.group(1))) {
                    bytes(ctx, number);
                } else {
                    events(ctx, number);
                }
            } else if (path.equals("/f")) {
                ctx.write(SMALL.retainedDuplicate(), ctx.voidPromise());
            } else if (path.equals("/upload") || path.startsWith("/webhooks/")) {
                ctx.write(TAKEN.retainedDuplicate(), ctx.voidPromise());
            } else {
                ctx.write(ABSENT.retainedDuplicate(), ctx.voidPromise());
            }
        }

        private void bytes(ChannelHandlerContext ctx, long number) {
            ctx.write(text("HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: "
                    + number + "\r\n\r\n"), ctx.voidPromise());
            unwritten = number;
            ctx.channel().config().setAutoRead(number == 0);
            writeOn(ctx);
        }

        private void writeOn(ChannelHandlerContext ctx) {
            boolean some = unwritten > 0;
            while (unwritten > 0 && ctx.channel().isWritable()) {
                ByteBuf part = Body.part(unwritten);
                unwritten -= part.readableBytes();
                ctx.write(part, ctx.voidPromise());
            }
            if (some) {
                ctx.flush();
                ctx.channel().config().setAutoRead(unwritten == 0);
            }
        }

        private void events(ChannelHandlerContext ctx, long perSecond) {
            ctx.writeAndFlush(text(EVENTS), ctx.voidPromise());
            long every = TimeUnit.SECONDS.toNanos(1) / Math.max(1, perSecond);
            events = ctx.executor().scheduleAtFixedRate(() -> {
                if (ctx.channel().isWritable()) {
                    String event = "data: " + System.nanoTime() + "\n\n";
                    ctx.writeAndFlush(text(Integer.toHexString(event.length()) + "\r\n" + event + "\r\n"),
                            ctx.voidPromise());
                }
            }, every, every, TimeUnit.NANOSECONDS);
        }

        private static void upgrade(ChannelHandlerContext ctx, HttpRequest request) {
            ctx.pipeline()
                    .addLast(new HttpResponseEncoder(),
                            new WebSocketServerProtocolHandler(WebSocketServerProtocolConfig.newBuilder()
                                    .websocketPath("/echo")
                                    .maxFramePayloadLength(MAX_MESSAGE)
                                    .dropPongFrames(true)
                                    .build()),
                            new Echo());
            var whole = new io.netty.handler.codec.http.DefaultFullHttpRequest(request.protocolVersion(),
                    request.method(), request.uri());
            whole.headers().set(request.headers());
            ctx.fireChannelRead(whole);
            ctx.pipeline().remove(Answers.class);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            writeOn(ctx);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (events != null) {
                events.cancel(false);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof WebSocketFrame) {
                ctx.writeAndFlush(message, ctx.voidPromise());
            } else {
                ReferenceCountUtil.release(message);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}
