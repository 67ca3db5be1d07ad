package dev.culvert.relay.listen;

import dev.culvert.http.net.HandlerNames;
import dev.culvert.relay.tls.TlsLink;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Prepares the connections of a listener before HTTP starts: TLS, the PROXY header, and checks of the peer.
 * Shared by all connections of a listener.
 */
public sealed interface Entrance {
    /** The scheme of requests that arrive through this entrance. */
    AsciiString scheme();

    /** Whether this entrance has no TLS. */
    default boolean isPlain() {
        return false;
    }

    /** The balancers that send PROXY headers; null: none do. */
    default @Nullable ProxySenders senders() {
        return null;
    }

    /**
     * Adds the first handlers to a new connection. Returns false and adds none if the connection must be
     * closed.
     */
    boolean open(Channel channel);

    /**
     * Returns the future of a connection's TLS handshake, which is done whether it succeeds or fails; null
     * without TLS.
     */
    static @Nullable Future<?> handshake(Channel channel) {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls != null) {
            return tls.handshakeFuture();
        }
        NameChoice choice = channel.pipeline().get(NameChoice.class);
        return choice == null ? null : choice.handshake();
    }

    /** Chooses the TLS context of a connection. */
    @FunctionalInterface
    interface Contexts {
        /**
         * Returns the context for the server name of the handshake; null: the handshake names none. Never
         * blocks.
         */
        SslContext of(@Nullable String serverName);
    }

    /**
     * Ends TLS.
     *
     * @param byName whether the context depends on the server name; if not, handshakes begin without reading
     *     it
     */
    record Secure(Contexts contexts, BooleanSupplier byName) implements Entrance {
        private static final AsciiString HTTPS = AsciiString.cached("https");

        /** Creates an entrance that uses one context for every connection. */
        public static Secure with(SslContext context) {
            return new Secure(serverName -> context, () -> false);
        }

        @Override
        public AsciiString scheme() {
            return HTTPS;
        }

        @Override
        public boolean open(Channel channel) {
            if (byName.getAsBoolean()) {
                channel.pipeline().addLast(HandlerNames.SERVER_NAME, new NameChoice(contexts, channel));
            } else {
                SslContext context = contexts.of(null);
                SslHandler tls = context.newHandler(channel.alloc());
                TlsLink.watch(context, tls, channel, CallerAddress::of);
                channel.pipeline().addLast(HandlerNames.TLS, tls);
            }
            return true;
        }
    }

    /**
     * Accepts connections without TLS. A balancer that the operator trusts has ended it, and only listed
     * peers may connect.
     */
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

    /** Reads a PROXY header before another entrance. */
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
