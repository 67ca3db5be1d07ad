package dev.culvert.e2e;

import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * TLS as somebody else's client does it: asks for any server name, trusts every server, tells what the server showed and
 * asked for, and resumes its sessions. Blocks.
 */
final class TlsDial {
    private static final int PATIENCE_MILLIS = 20_000;

    private final @Nullable TlsMaterial identity;
    private final AtomicInteger judged = new AtomicInteger();
    private final AtomicInteger asked = new AtomicInteger();
    private final SSLContext tls;

    /** @param identity what to show when the server asks; null: nothing */
    TlsDial(@Nullable TlsMaterial identity) throws GeneralSecurityException {
        this.identity = identity;
        tls = SSLContext.getInstance("TLS");
        tls.init(new KeyManager[]{new Identity()}, new TrustManager[]{new Judge()}, null);
    }

    /** Shows what a client has enrolled as. */
    static TlsDial as(Path identityFolder) throws GeneralSecurityException {
        return new TlsDial(new TlsMaterial(PemFiles.readCertificates(identityFolder.resolve("client.crt")),
                PemFiles.readKey(identityFolder.resolve("client.key"))));
    }

    /**
     * What came of one connection.
     *
     * @param leaf of the server, in this handshake or the one that was resumed
     * @param resumed whether the server showed no certificate, as the session was an old one
     * @param asked whether the server asked for a certificate
     * @param answer the head of its answer, with what came with it
     */
    record Answer(X509Certificate leaf, boolean resumed, boolean asked, String answer) {}

    /** Sends lines and an empty one; reads until the server closes, or its head ends if that is a 101. */
    Answer say(int port, String serverName, String... lines) {
        int judgedBefore = judged.get();
        int askedBefore = asked.get();
        try (SSLSocket socket = open(port, serverName)) {
            socket.getOutputStream()
                    .write((String.join("\r\n", lines) + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            var answer = new StringBuilder();
            for (int c = socket.getInputStream().read(); c >= 0; c = socket.getInputStream().read()) {
                answer.append((char) c);
                if (answer.indexOf("HTTP/1.1 101") == 0 && answer.indexOf("\r\n\r\n") > 0) {
                    break;
                }
            }
            return new Answer((X509Certificate) socket.getSession().getPeerCertificates()[0],
                    judged.get() == judgedBefore, asked.get() > askedBefore, answer.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Asks for a tunnel; {@code host} is also the server name. */
    Answer upgrade(int port, String host) {
        return say(port, host, "GET /tunnel/v1 HTTP/1.1", "Host: " + host, "Connection: Upgrade",
                "Upgrade: websocket", "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Protocol: culvert.v1");
    }

    /** The leaf that the server shows for a name. */
    X509Certificate leaf(int port, String serverName) throws GeneralSecurityException {
        return new TlsDial(identity)
                .say(port, serverName, "GET / HTTP/1.1", "Host: " + serverName, "Connection: close")
                .leaf();
    }

    private SSLSocket open(int port, String serverName) throws IOException {
        Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
        SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket(plain, serverName, port, true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    private final class Identity extends X509ExtendedKeyManager {
        @Override
        public @Nullable String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            asked.incrementAndGet();
            return identity == null ? null : "client";
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            return identity == null ? null : identity.chain().toArray(new X509Certificate[0]);
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            return identity == null ? null : identity.key();
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            return new String[]{"client"};
        }

        @Override
        public String @Nullable [] getServerAliases(String type, Principal[] issuers) {
            return null;
        }

        @Override
        public @Nullable String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return null;
        }
    }

    private final class Judge extends X509ExtendedTrustManager {
        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {
            judged.incrementAndGet();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
            judged.incrementAndGet();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {
            judged.incrementAndGet();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
