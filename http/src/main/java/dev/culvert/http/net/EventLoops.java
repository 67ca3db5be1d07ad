package dev.culvert.http.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/**
 * The event loops that the listeners, outgoing connections and relay of a service share. They use epoll where
 * available, else NIO. They never use io_uring, which costs 10–45 % more untuned. No event of a closed socket
 * reaches another one that has its file descriptor. Threads are daemons. The creator disposes it.
 */
public final class EventLoops implements LoopResources {
    private final EventLoopGroup group;
    private final boolean epoll;
    private final @Nullable OwnMemory memory;

    private EventLoops(int threads, boolean epoll) {
        this(threads, epoll, "culvert", null);
    }

    private EventLoops(int threads, boolean epoll, String name, @Nullable OwnMemory memory) {
        var threadFactory = new DefaultThreadFactory(name, true);
        this.epoll = epoll;
        this.memory = memory;
        HostAddresses.prepare();
        this.group = new MultiThreadIoEventLoopGroup(threads, threadFactory,
                epoll ? FreshEvents.factory() : NioIoHandler.newFactory());
    }

    /** Creates one loop per processor. */
    public static EventLoops create() {
        return create(Runtime.getRuntime().availableProcessors());
    }

    /** Creates {@code threads} loops, at least 1. */
    public static EventLoops create(int threads) {
        return new EventLoops(threads, Epoll.isAvailable());
    }

    /**
     * Creates one loop with its own memory for operators' requests. It responds while all traffic loops are
     * stalled and while they have exhausted the direct memory.
     */
    public static EventLoops apart() {
        return new EventLoops(1, Epoll.isAvailable(), "culvert-operators", new OwnMemory());
    }

    /** Creates loops on Java's own selector, also where epoll is available. */
    public static EventLoops nio(int threads) {
        return new EventLoops(threads, false);
    }

    /** The loops, for code that uses Netty without Reactor Netty. */
    public EventLoopGroup group() {
        return group;
    }

    /** The allocator for the buffers of connections on these loops. */
    public ByteBufAllocator allocator() {
        return memory == null ? ByteBufAllocator.DEFAULT : memory.allocator;
    }

    /** The socket class for {@link #group}. */
    public Class<? extends SocketChannel> socketChannel() {
        return epoll ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    /** The listener class for {@link #group}. */
    public Class<? extends ServerSocketChannel> serverChannel() {
        return epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return group;
    }

    @Override
    public EventLoopGroup onServerSelect(boolean useNative) {
        return group;
    }

    @Override
    public EventLoopGroup onClient(boolean useNative) {
        return group;
    }

    @Override
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup loops) {
        if (type == SocketChannel.class) {
            return socketChannel().asSubclass(type);
        }
        return type == ServerSocketChannel.class
                ? serverChannel().asSubclass(type)
                : LoopResources.super.onChannelClass(type, loops);
    }

    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup loops) {
        if (type == SocketChannel.class) {
            return type.cast(epoll ? new EpollSocketChannel() : new NioSocketChannel());
        }
        if (type == ServerSocketChannel.class) {
            return type.cast(epoll ? new EpollServerSocketChannel() : new NioServerSocketChannel());
        }
        return LoopResources.super.onChannel(type, loops);
    }

    @Override
    public boolean daemon() {
        return true;
    }

    @Override
    public void dispose() {
        disposeLater().subscribe();
    }

    @Override
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
        return Mono.create(sink -> group
                .shutdownGracefully(quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS)
                .addListener(done -> {
                    if (memory != null) {
                        memory.close();
                    }
                    sink.success();
                }));
    }

    /** One megabyte of direct memory, allocated at the start and kept until close. */
    private static final class OwnMemory {
        private static final int PAGE = 8192;
        /** A chunk has {@code PAGE << MAX_ORDER} bytes. */
        private static final int MAX_ORDER = 7;

        final PooledByteBufAllocator allocator = new PooledByteBufAllocator(true, 0, 1, PAGE, MAX_ORDER, 0, 0,
                false);
        /** Pins the chunk: the allocator frees a chunk with its last buffer. */
        private final ByteBuf pin = allocator.directBuffer(16);
        private final AtomicBoolean closed = new AtomicBoolean();

        void close() {
            if (closed.compareAndSet(false, true)) {
                pin.release();
            }
        }
    }
}
