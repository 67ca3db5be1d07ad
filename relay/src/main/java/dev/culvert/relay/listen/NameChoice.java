package dev.culvert.relay.listen;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SniHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

/** Waits for the server name of a TLS handshake (SNI), and gives way to the TLS that is chosen by it. */
public final class NameChoice extends SniHandler {
    private final Promise<Void> handshake;

    NameChoice(Entrance.Contexts contexts, Channel channel) {
        super(serverName -> contexts.of(serverName));
        handshake = channel.eventLoop().newPromise();
        channel.closeFuture().addListener(closed -> handshake.trySuccess(null));
    }

    /** Done when the handshake is over, whatever came of it, or the connection closed. */
    Future<Void> handshake() {
        return handshake;
    }

    @Override
    protected SslHandler newSslHandler(SslContext context, ByteBufAllocator allocator) {
        SslHandler tls = super.newSslHandler(context, allocator);
        tls.handshakeFuture().addListener(done -> handshake.trySuccess(null));
        return tls;
    }
}
