package dev.culvert.e2e;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** Sends a request's bytes as they are given, over TLS, and reads until the server closes. Blocks. */
final class RawCaller {
    private static final int TIMEOUT_MILLIS = 20_000;

    private RawCaller() {}

    /** A GET of exactly this target, for the runtime {@code acme/prod}. */
    static String get(Platform platform, String target) throws IOException, GeneralSecurityException {
        return exchange(platform, "GET " + target + " HTTP/1.1\r\nHost: acme-prod." + Platform.DOMAIN
                + "\r\nConnection: close\r\n\r\n");
    }

    /** Head and body as they came. */
    static String exchange(Platform platform, String bytes) throws IOException, GeneralSecurityException {
        return exchange(platform.server.edgeAddress().port(), bytes);
    }

    /** The same at any port. */
    static String exchange(int port, String bytes) throws IOException, GeneralSecurityException {
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        try (SSLSocket socket = (SSLSocket) trusting.getSocketFactory()
                .createSocket("127.0.0.1", port)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
