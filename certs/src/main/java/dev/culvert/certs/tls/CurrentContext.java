package dev.culvert.certs.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;

/**
 * A TLS context that each handshake asks anew, for servers that are given one context for all of their life:
 * certificates are reloaded behind it.
 */
public final class CurrentContext extends SslContext {
    private final Supplier<SslContext> current;

    /** @param current called on event loops; must not block */
    public CurrentContext(Supplier<SslContext> current) {
        this.current = current;
    }

    @Override
    public boolean isClient() {
        return current.get().isClient();
    }

    @Override
    public List<String> cipherSuites() {
        return current.get().cipherSuites();
    }

    @Override
    @SuppressWarnings("deprecation") // the method that the class demands returns a deprecated type
    public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
        return current.get().applicationProtocolNegotiator();
    }

    @Override
    public SSLEngine newEngine(ByteBufAllocator alloc) {
        return current.get().newEngine(alloc);
    }

    @Override
    public SSLEngine newEngine(ByteBufAllocator alloc, String peerHost, int peerPort) {
        return current.get().newEngine(alloc, peerHost, peerPort);
    }

    @Override
    public SSLSessionContext sessionContext() {
        return current.get().sessionContext();
    }

    /** The handler that fits the engine, which a context of its own kind makes. */
    @Override
    protected SslHandler newHandler(ByteBufAllocator alloc, boolean startTls) {
        return current.get().newHandler(alloc);
    }

    @Override
    protected SslHandler newHandler(ByteBufAllocator alloc, boolean startTls, Executor executor) {
        return current.get().newHandler(alloc, executor);
    }
}
