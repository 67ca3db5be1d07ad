package dev.culvert.launcher.admin;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/** Tells a port of TLS, which ends what is not TLS without a word. */
final class TlsPort {
    private static final int PATIENCE_MILLIS = 2000;
    /** The types of the records that may answer a ClientHello (RFC 8446 §5.1). */
    private static final int ALERT = 21;
    private static final int HANDSHAKE = 22;

    private TlsPort() {}

    /** Whether a ClientHello is answered with a record of TLS. Blocking; false if there is no answer. */
    static boolean isAt(URI address) {
        try (var socket = new Socket()) {
            SSLEngine engine = SSLContext.getDefault().createSSLEngine();
            engine.setUseClientMode(true);
            ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), hello);
            socket.setSoTimeout(PATIENCE_MILLIS);
            int port = address.getPort() >= 0 ? address.getPort() : 80;
            socket.connect(new InetSocketAddress(address.getHost(), port), PATIENCE_MILLIS);
            socket.getOutputStream().write(hello.array(), 0, hello.position());
            int first = socket.getInputStream().read();
            return first == ALERT || first == HANDSHAKE;
        } catch (IOException | GeneralSecurityException e) {
            return false;
        }
    }
}
