package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EventLoopsTest {
    @Test
    void useEpollWhereItRuns() {
        EventLoops loops = EventLoops.create(1);

        assertThat(EpollServerSocketChannel.class.equals(loops.serverChannel()))
                .isEqualTo(Epoll.isAvailable());
        assertThat(loops.onChannelClass(SocketChannel.class, loops.group())).isEqualTo(loops.socketChannel());
        stop(loops);
    }

    @Test
    void fallBackToJavasSelector() {
        EventLoops loops = EventLoops.nio(1);

        assertThat(loops.serverChannel()).isEqualTo(NioServerSocketChannel.class);
        assertThat(loops.onChannel(SocketChannel.class, loops.group())).isInstanceOf(NioSocketChannel.class);
        stop(loops);
    }

    @Test
    void areSharedAndRunOnDaemonThreads() throws Exception {
        EventLoops loops = EventLoops.create(1);

        assertThat(loops.onServer(true)).isSameAs(loops.onClient(false)).isSameAs(loops.onServerSelect(true));
        assertThat(loops.group().submit(() -> Thread.currentThread().isDaemon()).get()).isTrue();
        stop(loops);
    }

    @Test
    void memoryApartIsTakenOnce() {
        EventLoops loops = EventLoops.apart();
        ByteBufAllocator own = loops.allocator();
        long taken = ((ByteBufAllocatorMetricProvider) own).metric().usedDirectMemory();
        List<ByteBuf> buffers = Stream.generate(() -> own.ioBuffer(60 << 10)).limit(10).toList();

        assertThat(own).isNotSameAs(ByteBufAllocator.DEFAULT);
        assertThat(taken).isEqualTo(1 << 20);
        assertThat(((ByteBufAllocatorMetricProvider) own).metric().usedDirectMemory()).isEqualTo(taken);
        buffers.forEach(ByteBuf::release);
        assertThat(((ByteBufAllocatorMetricProvider) own).metric().usedDirectMemory()).isEqualTo(taken);
        stop(loops);
    }

    private static void stop(EventLoops loops) {
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block();
        assertThat(loops.group().isTerminated()).isTrue();
    }
}
