package dev.culvert.benchmarks;

import dev.culvert.http.net.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code culvert bench storm flood}: opens connections without an identity to a tunnel listener, from
 * 127.0.0.2 to 127.0.0.9. Of four connections, two complete the TLS handshake and request a tunnel without a
 * certificate, one sends garbage, and one sends nothing. Prints a line a second.
 */
@Command(name = "flood", mixinStandardHelpOptions = true, description = "Strangers at a tunnel listener: handshakes, garbage, silence.", footer = {
        "", "Example:", "  culvert bench storm flood --port 7443 --rate 400"})
final class StormFloodCommand implements Callable<Integer> {
    private static final int MAX_OPEN = 4000;
    private static final int ADDRESSES = 8;
    private static final int STEP_MILLIS = 10;
    private static final String GARBAGE = "\u0001\u0002nonsense\r\n\r\n";
    private static final String ASK = String.join("\r\n", "GET /tunnel/v1 HTTP/1.1", "Host: localhost",
            "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==", "Sec-WebSocket-Protocol: culvert.v1", "", "");

    @Option(names = "--port", required = true, description = "Of the tunnel listener on 127.0.0.1.")
    private int port;

    @Option(names = "--rate", defaultValue = "400", description = "Connections a second. Default: ${DEFAULT-VALUE}")
    private int rate;

    private final AtomicInteger open = new AtomicInteger();
    private final LongAdder opened = new LongAdder();

    @Override
    public Integer call() throws InterruptedException, SSLException {
        EventLoops loops = EventLoops.create(1);
        SslContext tls = SslContextBuilder.forClient()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null)
                .build();
        double due = 0;
        for (int number = 0, step = 1;; step++) {
            due += rate * STEP_MILLIS / 1000.0;
            for (; due >= 1; due--) {
                if (open.get() < MAX_OPEN) {
                    connect(number++, tls, loops);
                }
            }
            TimeUnit.MILLISECONDS.sleep(STEP_MILLIS);
            if (step % 100 == 0) {
                System.out.println("flood " + opened.sumThenReset() + " " + open.get());
            }
        }
    }

    private void connect(int number, SslContext tls, EventLoops loops) {
        open.incrementAndGet();
        var from = new InetSocketAddress("127.0.0." + (2 + number % ADDRESSES), 0);
        Bootstrap bootstrap = new Bootstrap().group(loops.group())
                .channel(loops.socketChannel())
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (number % 4 < 2) {
                            channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                        }
                        if (number % 4 != 3) {
                            channel.pipeline().addLast(new Stranger(number % 4 < 2 ? ASK : GARBAGE));
                        }
                    }
                });
        var connecting = bootstrap.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                from);
        connecting.channel().closeFuture().addListener(closed -> open.decrementAndGet());
        connecting.addListener(done -> {
            if (done.isSuccess()) {
                opened.increment();
            }
        });
    }

    /** Sends one message. */
    private static final class Stranger extends ChannelInboundHandlerAdapter {
        private final String words;

        Stranger(String words) {
            this.words = words;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            var _ = ctx.writeAndFlush(Unpooled.copiedBuffer(words, StandardCharsets.US_ASCII));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}
