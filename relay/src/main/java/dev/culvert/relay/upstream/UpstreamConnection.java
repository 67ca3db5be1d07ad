package dev.culvert.relay.upstream;

/** A connection to an upstream, as all protocols have it. Used on its event loop alone. */
public interface UpstreamConnection {
    /** From now on the pool counts it, and hears of its end. */
    void adopt();

    /** Leads to this address. Told once, before it is of any use. */
    void at(Endpoint endpoint);

    /** Whether an exchange may be given to it. */
    boolean isUsable();

    /** Closes it. It has no exchange any more. */
    void close();

    /** Closes it because the server ends; its exchanges fail. */
    void abandon();
}
