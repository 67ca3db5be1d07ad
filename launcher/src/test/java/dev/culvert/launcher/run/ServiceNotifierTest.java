package dev.culvert.launcher.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainDatagramPacket;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServiceNotifierTest {
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());

    @TempDir
    Path folder;

    @BeforeEach
    void onLinux() {
        assumeThat(Epoll.isAvailable()).isTrue();
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    @Test
    void aSocketHearsBothStates() throws InterruptedException {
        String path = folder.resolve("notify").toString();
        listen(path);
        var manager = new ServiceNotifier(path);

        manager.ready();
        manager.stopping();

        assertThat(heard.poll(1, TimeUnit.MINUTES)).isEqualTo("READY=1");
        assertThat(heard.poll(1, TimeUnit.MINUTES)).isEqualTo("STOPPING=1");
    }

    @Test
    void anAbstractSocketHears() throws InterruptedException {
        String name = "culvert-" + UUID.randomUUID();
        listen("\0" + name);

        new ServiceNotifier("@" + name).ready();

        assertThat(heard.poll(1, TimeUnit.MINUTES)).isEqualTo("READY=1");
    }

    @Test
    void whatCannotBeSentIsNoFailure() {
        new ServiceNotifier(null).ready();
        new ServiceNotifier("").ready();
        new ServiceNotifier(folder.resolve("nobody").toString()).ready();
        new ServiceNotifier("/" + "x".repeat(200)).ready();

        assertThat(heard).isEmpty();
    }

    private void listen(String path) throws InterruptedException {
        Channel channel = new Bootstrap().group(group)
                .channel(EpollDomainDatagramChannel.class)
                .handler(new SimpleChannelInboundHandler<DomainDatagramPacket>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, DomainDatagramPacket packet) {
                        heard.add(packet.content().toString(StandardCharsets.US_ASCII));
                    }
                })
                .bind(new DomainSocketAddress(path))
                .sync()
                .channel();
        assertThat(channel.isOpen()).isTrue();
    }
}
