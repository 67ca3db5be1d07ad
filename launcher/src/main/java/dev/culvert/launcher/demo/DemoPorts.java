package dev.culvert.launcher.demo;

import dev.culvert.edge.config.HostPort;

/**
 * Where the demo's listeners are: the default ports plus an offset, on loopback. What callers need no fixed port for
 * gets a free one.
 *
 * @param offset 0..{@value #MAX_OFFSET}
 */
public record DemoPorts(int offset) {
    /** The highest default port is 9090. */
    public static final int MAX_OFFSET = 65535 - 9090;

    HostPort edge() {
        return at(8443);
    }

    HostPort tunnel() {
        return at(7443);
    }

    HostPort admin() {
        return at(9090);
    }

    /** Any free port. */
    static HostPort free() {
        return new HostPort("127.0.0.1", 0);
    }

    private HostPort at(int port) {
        return new HostPort("127.0.0.1", port + offset);
    }
}
