package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.UnixChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Closes sockets with pending events within a pass, and dials others, which get their file descriptors. */
class FreshEventsTest {
    private static final int SOCKETS = 64;
    private static final String OWN_ANSWER = "the answer of its own peer";

    private final EventLoops loops = EventLoops.create(1);
    private final List<Socket> peers = new ArrayList<>();
    private final List<Channel> old = new ArrayList<>();
    private final List<Young> young = new ArrayList<>();
    private final CompletableFuture<Void> dialled = new CompletableFuture<>();
    private ServerSocket server;

    @BeforeEach
    void listen() throws IOException {
        server = new ServerSocket(0, 4 * SOCKETS, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void close() throws IOException {
        for (Socket peer : peers) {
            peer.close();
        }
        server.close();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block();
    }

    @Test
    void dataOfClosedSocketsReachesNoOther() throws Exception {
        replaceAllInOnePass(peer -> peer.getOutputStream().write('x'));

        assertThat(young).extracting(Young::received).containsOnly(OWN_ANSWER);
    }

    @Test
    void endsOfClosedSocketsReachNoOther() throws Exception {
        replaceAllInOnePass(Socket::shutdownOutput);

        assertThat(young).extracting(Young::received).containsOnly(OWN_ANSWER);
    }

    @Test
    void resetsOfClosedSocketsReachNoOther() throws Exception {
        replaceAllInOnePass(peer -> {
            peer.setSoLinger(true, 0);
            peer.close();
        });

        assertThat(young).extracting(Young::received).containsOnly(OWN_ANSWER);
    }

    /** What a peer does to its socket while the event loop is busy. */
    private interface Act {
        void on(Socket peer) throws IOException;
    }

    /**
     * Opens sockets, lets all peers act while the loop is busy, and replaces all sockets on the first event.
     * Each new peer answers at once with the port of its caller.
     */
    private void replaceAllInOnePass(Act act) throws Exception {
        assumeThat(Epoll.isAvailable()).isTrue();
        for (int i = 0; i < SOCKETS; i++) {
            old.add(dial(new FirstEvent()));
            peers.add(server.accept());
        }
        Set<Integer> closed = descriptors(old);

        loops.group().submit(() -> {
            for (Socket peer : peers) {
                act.on(peer);
            }
            return null;
        }).get();
        dialled.get(10, TimeUnit.SECONDS);
        for (int i = 0; i < SOCKETS; i++) {
            Socket peer = server.accept();
            peers.add(peer);
            peer.getOutputStream().write(("port " + peer.getPort()).getBytes(StandardCharsets.US_ASCII));
        }
        for (Young socket : young) {
            socket.events.answered.get(10, TimeUnit.SECONDS);
        }

        assertThat(descriptors(young.stream().map(Young::channel).toList()))
                .as("descriptors that are used again")
                .containsAnyElementsOf(closed);
    }

    private static Set<Integer> descriptors(List<Channel> channels) {
        return channels.stream()
                .map(channel -> ((UnixChannel) channel).fd().intValue())
                .collect(Collectors.toSet());
    }

    private Bootstrap bootstrap() {
        return new Bootstrap().group(loops.group())
                .channel(loops.socketChannel())
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .remoteAddress(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()));
    }

    private Channel dial(ChannelInboundHandlerAdapter handler) throws InterruptedException {
        return bootstrap().handler(handler).connect().sync().channel();
    }

    /** Replaces all sockets on the first event of any of them. */
    private final class FirstEvent extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ((ByteBuf) message).release();
            replaceAll();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            replaceAll();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            replaceAll();
        }

        private void replaceAll() {
            if (young.isEmpty()) {
                old.forEach(Channel::close);
                for (int i = 0; i < SOCKETS; i++) {
                    Events events = new Events();
                    young.add(new Young(bootstrap().handler(events).connect().channel(), events));
                }
                dialled.complete(null);
            }
        }
    }

    /** A socket that was dialled within the pass. */
    private record Young(Channel channel, Events events) {
        /** Returns all events: {@link #OWN_ANSWER} if there were no others. */
        String received() {
            int port = ((InetSocketAddress) channel.localAddress()).getPort();
            return events.seen.toString().replace("port " + port, OWN_ANSWER);
        }
    }

    /** Records the events of a socket. */
    private static final class Events extends ChannelInboundHandlerAdapter {
        final CompletableFuture<Void> answered = new CompletableFuture<>();
        final StringBuilder seen = new StringBuilder();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            seen.append(bytes.toString(StandardCharsets.US_ASCII));
            bytes.release();
            answered.complete(null);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            over(event.toString());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            over(cause.toString());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            over("closed");
        }

        private void over(String event) {
            seen.append(event);
            answered.complete(null);
        }
    }
}
