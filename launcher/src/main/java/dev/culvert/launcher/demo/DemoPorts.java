package dev.culvert.launcher.demo;

import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import dev.culvert.http.net.ListenException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;

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

    /**
     * Tries all ports, before anything is made for them. Blocks. Throws {@link ListenException} for the first
     * one that is taken.
     */
    public void requireFree() {
        for (HostPort each : List.of(edge, tunnel, admin)) {
            try (var tried = new ServerSocket()) {
                tried.bind(new InetSocketAddress(each.host(), each.port()));
            } catch (IOException e) {
                throw new ListenException(each, Reason.of(e));
            }
        }
    }

    private static HostPort at(int port) {
        return new HostPort("127.0.0.1", port);
    }
}
