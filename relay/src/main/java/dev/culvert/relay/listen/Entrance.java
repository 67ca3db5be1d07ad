package dev.culvert.relay.listen;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** What stands between a listener's sockets and HTTP. Shared by all connections of a listener. */
public sealed interface Entrance {
    /** What requests that come through here are said to have come by. */
    AsciiString scheme();

    /** Whether there is no TLS. */
    default boolean isPlain() {
        return false;
    }

    /** The balancers that say where their connections come from; null: none do. */
    default @Nullable ProxySenders senders() {
        return null;
    }

    /** Puts the first handlers into a new connection. Returns false, and puts none, if it is to be closed. */
    boolean open(Channel channel);

    /** The end of a connection's TLS handshake, whatever came of it; null if it has none. */
    static @Nullable Future<?> handshake(Channel channel) {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls != null) {
            return tls.handshakeFuture();
        }
        NameChoice choice = channel.pipeline().get(NameChoice.class);
        return choice == null ? null : choice.handshake();
    }

    /** Chooses the TLS of a connection. */
    @FunctionalInterface
    interface Contexts {
        /** Chooses by the server name that the handshake asks for; null: none. Never waits. */
        SslContext of(@Nullable String serverName);
    }

    /**
     * TLS.
     *
     * @param byName whether the server name makes a difference; else handshakes begin without waiting for it
     */
    record Secure(Contexts contexts, BooleanSupplier byName) implements Entrance {
        private static final AsciiString HTTPS = AsciiString.cached("https");

        /** Always the same. */
        public static Secure with(SslContext context) {
            return new Secure(serverName -> context, () -> false);
        }

        @Override
        public AsciiString scheme() {
            return HTTPS;
        }

        @Override
        public boolean open(Channel channel) {
            channel.pipeline()
                    .addLast(byName.getAsBoolean()
                            ? new NameChoice(contexts, channel)
                            : contexts.of(null).newHandler(channel.alloc()));
            return true;
        }
    }

    /** No TLS: a balancer that the operator trusts has ended it, and nobody else may connect. */
    record Plain(PlainPeers peers) implements Entrance {
        private static final AsciiString HTTP = AsciiString.cached("http");

        @Override
        public AsciiString scheme() {
            return HTTP;
        }

        @Override
        public boolean isPlain() {
            return true;
        }

        @Override
        public boolean open(Channel channel) {
            return channel.remoteAddress() instanceof InetSocketAddress remote
                    && peers.include(remote.getAddress());
        }
    }

    /** A PROXY header in front of another entrance. */
    record Announced(ProxySenders senders, Entrance behind) implements Entrance {
        @Override
        public AsciiString scheme() {
            return behind.scheme();
        }

        @Override
        public boolean isPlain() {
            return behind.isPlain();
        }

        @Override
        public boolean open(Channel channel) {
            return behind.open(channel);
        }
    }
}
