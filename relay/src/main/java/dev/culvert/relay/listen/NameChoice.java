package dev.culvert.relay.listen;

import dev.culvert.relay.tls.TlsLink;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SniHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

/**
 * Waits for the server name of a TLS handshake (SNI), and replaces itself with the TLS handler for that name.
 */
public final class NameChoice extends SniHandler {
    private final Channel channel;
    private final Promise<Void> handshake;

    NameChoice(Entrance.Contexts contexts, Channel channel) {
        super(serverName -> contexts.of(serverName));
        this.channel = channel;
        handshake = channel.eventLoop().newPromise();
        channel.closeFuture().addListener(closed -> handshake.trySuccess(null));
    }

    /** Returns a future that is done when the handshake succeeds or fails, or the connection closes. */
    Future<Void> handshake() {
        return handshake;
    }

    @Override
    protected SslHandler newSslHandler(SslContext context, ByteBufAllocator allocator) {
        SslHandler tls = super.newSslHandler(context, allocator);
        TlsLink.watch(context, tls, channel, CallerAddress::of);
        tls.handshakeFuture().addListener(done -> handshake.trySuccess(null));
        return tls;
    }
}
