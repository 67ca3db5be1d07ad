package dev.culvert.launcher.demo;

import dev.culvert.config.HostPort;

/**
 * The demo's listeners on loopback. Listeners that users need not know get a free port.
 *
 * @param edge the listener for callers
 * @param tunnel the listener for the client
 * @param admin the listener for operators
 */
public record DemoPorts(HostPort edge, HostPort tunnel, HostPort admin) {
    /** The maximum offset: the highest default port is 9090. */
    public static final int MAX_OFFSET = 65535 - 9090;

    /** The default ports plus an offset of 0..{@value #MAX_OFFSET}. */
    public static DemoPorts offset(int offset) {
        return new DemoPorts(at(8443 + offset), at(7443 + offset), at(9090 + offset));
    }

    /** Only free ports, for tests. */
    static DemoPorts free() {
        return new DemoPorts(at(0), at(0), at(0));
    }

    private static HostPort at(int port) {
        return new HostPort("127.0.0.1", port);
    }
}
