package dev.culvert.server.runtime;

/** What a registrar of runtimes knows of hosts that lead to upstreams. */
public interface DirectUpstreams {
    /**
     * Reads the authorities of an upstream. Throws InvalidNameException if they can't be used. Blocks.
     */
    void check(RuntimeUpstream upstream);

    /** Whether a host, in lower case, is the platform's, so that no runtime may have it. */
    boolean isPlatforms(String host);

    /** Refuses all upstreams, for a registrar that registers tunnelled runtimes only. */
    DirectUpstreams NONE = new DirectUpstreams() {
        @Override
        public void check(RuntimeUpstream upstream) {
            throw new InvalidNameException("upstream", "not served here");
        }

        @Override
        public boolean isPlatforms(String host) {
            return false;
        }
    };
}
