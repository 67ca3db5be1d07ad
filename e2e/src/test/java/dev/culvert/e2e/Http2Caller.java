package dev.culvert.e2e;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2SettingsFrame;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One HTTP/2 connection to an edge, over TLS; each stream is opened with any head. Blocking. */
final class Http2Caller implements AutoCloseable {
    private static final int CONNECTION_WINDOW = 4 << 20;
    private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
            NioIoHandler.newFactory());
    private final CompletableFuture<Boolean> settings = new CompletableFuture<>();
    private final Channel connection;

    Http2Caller(int port) throws Exception {
        SslContext tls = SslContextBuilder.forClient()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        ApplicationProtocolConfig.Protocol.ALPN,
                        ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                        ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT, "h2"))
                .build();
        connection = new Bootstrap().group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        Http2FrameCodec codec = Http2FrameCodecBuilder.forClient().build();
                        channel.pipeline()
                                .addLast(tls.newHandler(channel.alloc()), codec,
                                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()),
                                        new Settings(codec));
                    }
                })
                .connect(InetAddress.getLoopbackAddress(), port)
                .sync()
                .channel();
        if (!settings.get(Wire.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
            throw new IOException("the edge does not offer WebSockets (RFC 8441 §3)");
        }
    }

    private final class Settings extends ChannelInboundHandlerAdapter {
        private final Http2FrameCodec codec;

        Settings(Http2FrameCodec codec) {
            this.codec = codec;
        }

        /** A stream that is not read leaves room for the others. */
        private void widen(ChannelHandlerContext ctx) throws Http2Exception {
            codec.connection()
                    .local()
                    .flowController()
                    .incrementWindowSize(codec.connection().connectionStream(), CONNECTION_WINDOW);
            ctx.flush();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object frame) throws Http2Exception {
            if (frame instanceof Http2SettingsFrame sent) {
                widen(ctx);
                settings.complete(Long.valueOf(1).equals(sent.settings().get((char) 8)));
            }
            io.netty.util.ReferenceCountUtil.release(frame);
        }
    }

    /** A WebSocket (RFC 8441 §5); {@code namesAndValues} are further fields. */
    Stream webSocket(String host, String path, String... namesAndValues) throws Exception {
        Http2Headers head = new DefaultHttp2Headers().method("CONNECT")
                .scheme("https")
                .authority(host)
                .path(path)
                .add(":protocol", "websocket")
                .add("sec-websocket-version", "13");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            head.add(namesAndValues[i], namesAndValues[i + 1]);
        }
        return open(head, false);
    }

    /** Opens a stream and waits for its answer to begin. */
    Stream open(Http2Headers head, boolean ended) throws Exception {
        return begin(head, ended).answered();
    }

    /** Opens a stream. */
    Stream begin(Http2Headers head, boolean ended) throws Exception {
        Stream stream = new Stream();
        stream.channel = new Http2StreamChannelBootstrap(connection).option(ChannelOption.AUTO_READ, false)
                .handler(stream.new Arrivals())
                .open()
                .get(Wire.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        stream.channel.writeAndFlush(new DefaultHttp2HeadersFrame(head, ended)).sync();
        return stream;
    }

    /** Whether the edge has not closed the connection, as it does when that was idle for a minute. */
    boolean isOpen() {
        return connection.isActive();
    }

    @Override
    public void close() {
        connection.close();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** A stream whose answer has begun; it is read only as fast as {@link #in} is. */
    static final class Stream extends InputStream implements Wire {
        private static final byte[] END = {};
        private final CompletableFuture<Http2Headers> head = new CompletableFuture<>();
        private final BlockingQueue<byte[]> arrived = new LinkedBlockingQueue<>();
        private volatile String reset = "";
        @SuppressWarnings("NullAway.Init") // set before anybody sees this
        private Channel channel;
        @SuppressWarnings("NullAway.Init") // set before anybody sees this
        private Http2Headers answer;
        private byte[] now = {};
        private int at;
        private boolean over;
        private boolean begun;

        /** Waits for the answer to begin. */
        Stream answered() throws Exception {
            if (!begun) {
                begun = true;
                channel.read();
                answer = head.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            }
            return this;
        }

        /** Ends the request. */
        void end() {
            channel.writeAndFlush(new DefaultHttp2DataFrame(true));
        }

        String status() {
            return String.valueOf(answer.status());
        }

        @Override
        public String head() {
            var text = new StringBuilder();
            answer.forEach(field -> text.append(field.getKey() + ": " + field.getValue() + "\r\n"));
            return text.toString();
        }

        @Override
        public void send(byte[] bytes) throws IOException {
            var sent = channel.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(bytes)));
            if (!sent.awaitUninterruptibly(PATIENCE_MILLIS)) {
                throw Wire.silent();
            }
            if (!sent.isSuccess()) {
                throw new IOException(sent.cause());
            }
        }

        @Override
        public InputStream in() {
            return this;
        }

        @Override
        public int read() throws IOException {
            return fill() ? now[at++] & 0xff : -1;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            if (length == 0) {
                return 0; // not a wait for more
            }
            if (!fill()) {
                return -1;
            }
            int some = Math.min(length, now.length - at);
            System.arraycopy(now, at, to, offset, some);
            at += some;
            return some;
        }

        private boolean fill() throws IOException {
            while (at == now.length && !over) {
                if (arrived.isEmpty()) {
                    channel.read();
                }
                try {
                    byte[] next = arrived.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
                    if (next == null) {
                        throw Wire.silent();
                    }
                    now = next;
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
                at = 0;
                over = now.length == 0;
            }
            if (over && !reset.isEmpty()) {
                throw new IOException("reset: " + reset);
            }
            return !over;
        }

        @Override
        public void close() {
            channel.close().awaitUninterruptibly();
        }

        private final class Arrivals extends ChannelInboundHandlerAdapter {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object frame) {
                switch (frame) {
                    case Http2HeadersFrame fields -> {
                        head.complete(fields.headers());
                        ended(fields.isEndStream());
                    }
                    case Http2DataFrame data -> {
                        ByteBuf bytes = data.content();
                        if (bytes.isReadable()) {
                            arrived.add(ByteBufUtil.getBytes(bytes));
                        }
                        bytes.release();
                        ended(data.isEndStream());
                    }
                    default -> io.netty.util.ReferenceCountUtil.release(frame);
                }
            }

            /** Told ahead of DATA that was not read yet: the stream ends behind that. */
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event instanceof Http2ResetFrame frame && frame.errorCode() != 0) {
                    reset = "code " + frame.errorCode();
                }
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                ended(true);
            }

            private void ended(boolean last) {
                if (last) {
                    head.completeExceptionally(new IOException("no answer " + reset));
                    arrived.add(END);
                }
            }
        }
    }
}
