package dev.culvert.launcher.demo;

import dev.culvert.config.HostPort;

/**
 * Where the demo listens, on loopback. What nobody has to know beforehand gets a free port anyway.
 *
 * @param edge for callers
 * @param tunnel for the client
 * @param admin for operators
 */
public record DemoPorts(HostPort edge, HostPort tunnel, HostPort admin) {
    /** The highest default port is 9090. */
    public static final int MAX_OFFSET = 65535 - 9090;

    /** The default ports plus an offset of 0..{@value #MAX_OFFSET}. */
    public static DemoPorts offset(int offset) {
        return new DemoPorts(at(8443 + offset), at(7443 + offset), at(9090 + offset));
    }

    /** Free ports only: for tests. */
    static DemoPorts free() {
        return new DemoPorts(at(0), at(0), at(0));
    }

    private static HostPort at(int port) {
        return new HostPort("127.0.0.1", port);
    }
}
