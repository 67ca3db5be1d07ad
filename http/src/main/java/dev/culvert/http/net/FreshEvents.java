package dev.culvert.http.net;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.ThreadAwareExecutor;

/**
 * Netty's epoll handler, without events of closed sockets. Netty finds the channel of an event by its file
 * descriptor. When a handler closes a socket and dials another one, the new socket gets the number of the
 * closed one, and events of the closed one that the same {@code epoll_wait} has returned reach the new
 * channel: it reads before it is connected, counts as connected too early, or sees the end of an input that
 * has not ended.
 *
 * <p>No event that one call of {@code epoll_wait} returned belongs to a registration that is younger than the
 * call. Those are dropped. Nothing is lost, because Netty's epoll is level-triggered: what is true of the new
 * socket is reported by the next call. Confined to its event loop.
 */
final class FreshEvents implements IoHandler {
    private final IoHandler epoll;
    /** The number of the present or last call of {@link #run}, which calls {@code epoll_wait} once. */
    private long pass;

    private FreshEvents(IoHandler epoll) {
        this.epoll = epoll;
    }

    static IoHandlerFactory factory() {
        IoHandlerFactory epoll = EpollIoHandler.newFactory();
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new FreshEvents(epoll.newHandler(executor));
            }

            @Override
            public boolean isChangingThreadSupported() {
                return epoll.isChangingThreadSupported();
            }
        };
    }

    @Override
    public void initialize() {
        epoll.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        pass++;
        return epoll.run(context);
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return epoll.register(new Registered((EpollIoHandle) handle, pass));
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return epoll.isCompatible(handleType);
    }

    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public void prepareToDestroy() {
        epoll.prepareToDestroy();
    }

    @Override
    public void destroy() {
        epoll.destroy();
    }

    /** A socket, and the pass in which it was registered. */
    @SuppressWarnings("try") // Netty's close() declares Exception
    private final class Registered implements EpollIoHandle {
        private final EpollIoHandle socket;
        private final long since;

        Registered(EpollIoHandle socket, long since) {
            this.socket = socket;
            this.since = since;
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            if (pass != since) {
                socket.handle(registration, event);
            }
        }

        @Override
        public FileDescriptor fd() {
            return socket.fd();
        }

        @Override
        public void registered() {
            socket.registered();
        }

        @Override
        public void unregistered() {
            socket.unregistered();
        }

        @Override
        public void close() throws Exception {
            socket.close();
        }
    }
}
