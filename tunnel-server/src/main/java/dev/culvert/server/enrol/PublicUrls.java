package dev.culvert.server.enrol;

import org.jspecify.annotations.Nullable;

/**
 * The URLs at which callers reach runtimes. Their port is the configured one, else the edge listener's, which
 * is known once it listens. Callable from any thread.
 */
public final class PublicUrls {
    private static final int HTTPS = 443;

    private volatile int port;

    private PublicUrls(int port) {
        this.port = port;
    }

    /**
     * Makes the URLs.
     *
     * @param configured the port that callers use, or 0 for that of the edge listener
     * @param plain whether something in front of the edge ends TLS: its port is then 443 unless configured
     */
    public static PublicUrls of(int configured, boolean plain) {
        return new PublicUrls(configured == 0 && plain ? HTTPS : configured);
    }

    /** Sets the port of the edge listener, which counts unless another is configured. */
    public void listening(int edge) {
        if (port == 0) {
            port = edge;
        }
    }

    /** {@code https://host[:port]}; null while the port is not known. */
    @Nullable
    String of(String host) {
        int present = port;
        return present == 0 ? null : "https://" + host + (present == HTTPS ? "" : ":" + present);
    }
}
