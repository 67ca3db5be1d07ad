package dev.culvert.relay.listen;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HandshakeFairnessTest {
    private static final int NEWCOMERS = 4;

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> order = new LinkedBlockingQueue<>();
    private final List<Socket> sockets = new ArrayList<>();
    private final List<Channel> channels = new ArrayList<>();
    private volatile @Nullable Socket busy;
    private @Nullable Channel listener;

    @BeforeEach
    void listen() throws InterruptedException {
        listener = new ServerBootstrap().group(loop)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Noting());
                        accepted.add(channel);
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void whoIsAtWorkIsServedBetweenTwoTurns() throws IOException, InterruptedException {
        Socket working = connect(false);
        busy = working;
        List<Socket> newcomers = new ArrayList<>();
        for (int i = 0; i < NEWCOMERS; i++) {
            newcomers.add(connect(true));
        }
        whileTheLoopIsHeld(() -> {
            write(working, "busy");
            newcomers.forEach(socket -> write(socket, "turn"));
        });

        List<String> seen = new ArrayList<>();
        while (seen.size() < 1 + NEWCOMERS * 2) {
            seen.add(order.poll(20, TimeUnit.SECONDS));
        }

        assertThat(seen).containsExactly("busy", "turn", "busy", "turn", "busy", "turn", "busy", "turn",
                "busy");
    }

    @Test
    void whoHasBegunGoesFirst() throws IOException, InterruptedException {
        Socket begun = connect(true);
        write(begun, "turn");
        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("turn");
        List<Socket> newcomers = List.of(connect(true), connect(true));
        whileTheLoopIsHeld(() -> {
            newcomers.forEach(socket -> write(socket, "new"));
            write(begun, "old");
        });

        List<String> seen = new ArrayList<>();
        while (seen.size() < 3) {
            seen.add(order.poll(20, TimeUnit.SECONDS));
        }

        assertThat(seen).containsExactly("old", "new", "new");
    }

    @Test
    void whoNeedsManyTurnsHasNoPrecedence() throws IOException, InterruptedException {
        Socket talkative = connect(true);
        for (int i = 0; i < HandshakeFairness.MAX_TURNS; i++) {
            write(talkative, "talk");
            assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("talk");
        }
        Socket begun = connect(true);
        write(begun, "turn");
        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("turn");
        whileTheLoopIsHeld(() -> {
            write(talkative, "talk");
            write(begun, "old");
        });

        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("old");
        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("talk");
    }

    @Test
    void afterwardsNobodyWaits() throws IOException, InterruptedException {
        Socket socket = connect(true);
        write(socket, "turn");
        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("turn");
        Channel channel = channels.getFirst();

        channel.eventLoop().submit(() -> HandshakeFairness.over(channel)).syncUninterruptibly();
        write(socket, "more");

        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("more");
        assertThat(channel.pipeline().get(HandshakeFairness.class)).isNull();
    }

    @Test
    void whatWaitedWhenItWasOverIsNotLost() throws IOException, InterruptedException {
        Socket first = connect(true);
        Socket second = connect(true);
        Channel one = channels.get(0);
        Channel two = channels.get(1);
        one.pipeline().addLast(new SimpleChannelInboundHandler<String>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, String text) {
                HandshakeFairness.over(one);
                HandshakeFairness.over(two);
            }
        });
        whileTheLoopIsHeld(() -> {
            write(first, "turn");
            write(second, "turn");
        });

        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("turn");
        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("turn");
        write(first, "more");
        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("more");
        write(second, "more");
        assertThat(order.poll(20, TimeUnit.SECONDS)).isEqualTo("more");
    }

    /** Notes what it reads, and has the busy connection speak again whenever a newcomer had its turn. */
    private final class Noting extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) {
            String text = bytes.toString(StandardCharsets.US_ASCII);
            order.add(text);
            Socket working = busy;
            if (text.equals("turn") && working != null) {
                write(working, "busy");
            }
            ctx.fireChannelRead(text);
        }
    }

    private Socket connect(boolean inTurn) throws IOException, InterruptedException {
        int port = ((InetSocketAddress) Objects.requireNonNull(listener).localAddress()).getPort();
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        sockets.add(socket);
        Channel channel = accepted.take();
        channel.eventLoop().submit(() -> {
            if (inTurn) {
                HandshakeFairness.begin(channel);
            }
        }).syncUninterruptibly();
        channels.add(channel);
        return socket;
    }

    /** The next pass of the loop finds everything that {@code writes} wrote. */
    private void whileTheLoopIsHeld(Runnable writes) throws InterruptedException {
        var held = new CountDownLatch(1);
        var written = new CountDownLatch(1);
        loop.execute(() -> {
            held.countDown();
            try {
                written.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        held.await(20, TimeUnit.SECONDS);
        writes.run();
        written.countDown();
    }

    private static void write(Socket socket, String text) {
        try {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
