package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** An upstream that speaks HTTP/2 with prior knowledge, on 127.0.0.1; the test decides what it answers. */
final class Http2Upstream implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 20;
    private static final int KEPT_CHARS = 1024;

    private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
            NioIoHandler.newFactory());
    private final BlockingQueue<Peer> peers = new LinkedBlockingQueue<>();
    private final Channel listener;
    /** Whether request bodies are consumed as they come. */
    volatile boolean reading = true;

    /** @param maxStreams what its settings allow */
    Http2Upstream(long maxStreams) {
        this(new Http2Settings().maxConcurrentStreams(maxStreams), null);
    }

    Http2Upstream(Http2Settings settings, @Nullable SslContext tls) {
        listener = new ServerBootstrap().group(group)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        if (tls != null) {
                            channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                        }
                        Http2FrameCodec codec = Http2FrameCodecBuilder.forServer()
                                .initialSettings(settings)
                                .build();
                        Peer peer = new Peer(codec);
                        channel.pipeline().addLast(codec, peer);
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    int port() {
        return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    URI uri(String scheme) {
        return URI.create(scheme + "://127.0.0.1:" + port());
    }

    /** The next connection. */
    Peer accept() {
        return next(peers);
    }

    boolean hasAnotherConnection() {
        return !peers.isEmpty();
    }

    private static <T> T next(BlockingQueue<T> queue) {
        try {
            return Objects.requireNonNull(queue.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** One connection, as the upstream sees it. */
    final class Peer extends ChannelInboundHandlerAdapter {
        private final Http2FrameCodec codec;
        private final BlockingQueue<Asked> asked = new LinkedBlockingQueue<>();
        private final Map<Http2FrameStream, Asked> streams = new ConcurrentHashMap<>();
        private volatile @Nullable ChannelHandlerContext context;

        Peer(Http2FrameCodec codec) {
            this.codec = codec;
        }

        private ChannelHandlerContext context() {
            return Objects.requireNonNull(context);
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            context = ctx;
            peers.add(this);
            ctx.fireChannelActive();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            switch (message) {
                case Http2HeadersFrame head -> {
                    Asked known = streams.get(head.stream());
                    if (known == null) {
                        Asked fresh = new Asked(this, head);
                        streams.put(head.stream(), fresh);
                        asked.add(fresh);
                    } else {
                        known.trailers = head.headers();
                        known.ended = true;
                    }
                }
                case Http2DataFrame data -> asked(data.stream()).data(data);
                case Http2ResetFrame reset -> asked(reset.stream()).resetCode = reset.errorCode();
                default -> ReferenceCountUtil.release(message);
            }
        }

        private Asked asked(@Nullable Http2FrameStream stream) {
            return Objects.requireNonNull(streams.get(stream));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }

        /** The next request. */
        Asked ask() {
            return next(asked);
        }

        boolean isAskedMore() {
            return !asked.isEmpty();
        }

        boolean isClosed() {
            return !context().channel().isActive();
        }

        void write(Object frame) {
            context().writeAndFlush(frame).syncUninterruptibly();
        }

        /** Says that it will go, and that streams above {@code last} were not looked at. */
        void goAway(int last) {
            context().executor().submit(() -> {
                ChannelHandlerContext ctx = context().pipeline().context(codec);
                codec.goAway(ctx, last, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, ctx.newPromise());
                ctx.flush();
            }).syncUninterruptibly();
        }

        /** Drops the socket. */
        void drop() {
            context().pipeline().firstContext().close().syncUninterruptibly();
        }

        /** Sends bytes that no codec has seen. */
        void writeRaw(byte[] bytes) {
            context().pipeline()
                    .firstContext()
                    .writeAndFlush(Unpooled.wrappedBuffer(bytes))
                    .syncUninterruptibly();
        }
    }

    /** One request. */
    final class Asked {
        private final Peer peer;
        private final Http2FrameStream stream;
        final Http2Headers head;
        final AtomicLong received = new AtomicLong();
        private final AtomicReference<String> body = new AtomicReference<>("");
        volatile @Nullable Http2Headers trailers;
        volatile boolean ended;
        volatile @Nullable Long resetCode;

        private Asked(Peer peer, Http2HeadersFrame head) {
            this.peer = peer;
            this.stream = head.stream();
            this.head = head.headers();
            this.ended = head.isEndStream();
        }

        Peer peer() {
            return peer;
        }

        int id() {
            return stream.id();
        }

        private void data(Http2DataFrame data) {
            int size = data.content().readableBytes();
            received.addAndGet(size);
            if (body.get().length() < KEPT_CHARS) {
                String part = data.content().toString(StandardCharsets.ISO_8859_1);
                body.updateAndGet(before -> before + part);
            }
            ended |= data.isEndStream();
            int credit = data.initialFlowControlledBytes();
            data.release();
            if (reading && credit > 0) {
                peer.context().writeAndFlush(new DefaultHttp2WindowUpdateFrame(credit).stream(stream));
            }
        }

        /** Gives back what was not consumed. */
        void consume(int bytes) {
            peer.write(new DefaultHttp2WindowUpdateFrame(bytes).stream(stream));
        }

        Asked head(String status, boolean last, String... fields) {
            Http2Headers head = new DefaultHttp2Headers().status(status);
            return headers(head, last, fields);
        }

        Asked trailers(String... fields) {
            return headers(new DefaultHttp2Headers(), true, fields);
        }

        Asked headers(Http2Headers head, boolean last, String... fields) {
            for (int i = 0; i < fields.length; i += 2) {
                head.add(fields[i], fields[i + 1]);
            }
            peer.write(new DefaultHttp2HeadersFrame(head, last).stream(stream));
            return this;
        }

        Asked body(String text, boolean last) {
            peer.write(new DefaultHttp2DataFrame(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1),
                    last).stream(stream));
            return this;
        }

        /** Sends a long body, as far as windows let it, and its end. Returns at once. */
        Asked pattern(int bytes) {
            ByteBuf all = Unpooled.wrappedBuffer(Asker.pattern(0, bytes));
            peer.context().writeAndFlush(new DefaultHttp2DataFrame(all, true).stream(stream));
            return this;
        }

        void reset(Http2Error error) {
            peer.write(new DefaultHttp2ResetFrame(error).stream(stream));
        }

        void answer() {
            head("200", false).body("ok", true);
        }

        @Nullable
        CharSequence trailer(String name) {
            Http2Headers seen = trailers;
            return seen == null ? null : seen.get(name);
        }

        String field(String name) {
            return String.valueOf(head.get(name));
        }

        void awaitBody(String text) {
            await().untilAsserted(() -> assertThat(body).hasValue(text));
        }

        Asked awaitEnd() {
            await().until(() -> ended);
            return this;
        }

        long awaitReset() {
            await().until(() -> resetCode != null);
            return Objects.requireNonNull(resetCode);
        }
    }
}
