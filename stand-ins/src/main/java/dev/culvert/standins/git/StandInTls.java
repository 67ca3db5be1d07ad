package dev.culvert.standins.git;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.culvert.certs.TlsMaterial;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A listener with TLS by Java's engine. */
final class StandInTls {
    private static final char[] NO_PASSWORD = new char[0];

    private StandInTls() {}

    static HttpsServer server(InetSocketAddress address, TlsMaterial tls) throws IOException {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("server", tls.key(), NO_PASSWORD,
                    tls.chain().toArray(X509Certificate[]::new));
            var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, NO_PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            HttpsServer server = HttpsServer.create(address, 0);
            server.setHttpsConfigurator(new HttpsConfigurator(context));
            return server;
        } catch (GeneralSecurityException e) {
            throw new IOException("the stand-in's certificate can't be used", e);
        }
    }
}
