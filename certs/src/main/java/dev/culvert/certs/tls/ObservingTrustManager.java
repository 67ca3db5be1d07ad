package dev.culvert.certs.tls;

import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;

/** Lets every server pass, and tells what it showed: for a diagnosis that says nothing secret on the connection. */
final class ObservingTrustManager extends EngineTrustManager {
    private final Consumer<Shown> seen;

    /**
     * What a server showed.
     *
     * @param engine of the handshake, to judge it with
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
