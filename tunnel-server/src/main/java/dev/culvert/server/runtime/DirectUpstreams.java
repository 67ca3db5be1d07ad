package dev.culvert.server.runtime;

/** Prepares the connections to the upstreams of hosted runtimes. */
public interface DirectUpstreams {
    /**
     * Reads the authorities of an upstream. Throws InvalidNameException if they can't be used. Blocks.
     */
    void check(RuntimeUpstream upstream);

    /** Refuses all upstreams, for a registrar that registers tunnelled runtimes only. */
    DirectUpstreams NONE = upstream -> {
        throw new InvalidNameException("upstream", "not served here");
    };
}
