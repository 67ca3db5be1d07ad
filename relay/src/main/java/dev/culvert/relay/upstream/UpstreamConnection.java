package dev.culvert.relay.upstream;

import dev.culvert.relay.tls.KeyExchange;
import org.jspecify.annotations.Nullable;

/** A connection to an upstream, of any protocol. Used only on its event loop. */
public interface UpstreamConnection {
    /** Called when the pool counts the connection. From now on it reports its end to the pool. */
    void adopt();

    /** Sets the address that the connection leads to. Called once, before the connection is used. */
    void at(Endpoint endpoint);

    /** The address that the connection leads to. */
    Endpoint endpoint();

    /** What its TLS agreed on, once it is used; null: it has no TLS. */
    default @Nullable KeyExchange tls() {
        return null;
    }

    /** Whether the connection can take an exchange. */
    boolean isUsable();

    /** Closes the connection, which has no exchange. */
    void close();

    /** Closes the connection because the server stops. Its exchanges fail. */
    void abandon();
}
