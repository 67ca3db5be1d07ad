package dev.culvert.certs.tls;

import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;

/**
 * Accepts every server and reports its certificates. For a diagnosis that sends no secret on the connection.
 */
final class ObservingTrustManager extends EngineTrustManager {
    private final Consumer<Shown> seen;

    /**
     * The certificates that a server sent.
     *
     * @param engine the engine of the handshake, for the trust checks
     */
    record Shown(List<X509Certificate> chain, String authType, SSLEngine engine) {}

    ObservingTrustManager(Consumer<Shown> seen) {
        this.seen = seen;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
        seen.accept(new Shown(List.of(chain), authType, engine));
    }
}
