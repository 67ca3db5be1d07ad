package dev.culvert.appproxy.commits.git;

import dev.culvert.appproxy.credentials.GitToken;
import java.io.IOException;
import java.net.Proxy;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import javax.net.ssl.TrustManager;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.transport.Transport;
import org.eclipse.jgit.transport.TransportHttp;
import org.eclipse.jgit.transport.URIish;
import org.eclipse.jgit.transport.http.HttpConnection;
import org.eclipse.jgit.transport.http.HttpConnectionFactory;
import org.eclipse.jgit.transport.http.JDKHttpConnectionFactory;
import org.jspecify.annotations.Nullable;

/**
 * The access to a repository over Git's smart HTTP protocol.
 *
 * @param uri the clone URI, without a token
 * @param token the token that grants access; null: none is sent
 * @param ca a PEM file of authorities trusted in addition to the public ones; null: none
 * @param timeout the limit for a connection, and between two bytes
 */
public record SmartHttp(URI uri, @Nullable GitToken token, @Nullable Path ca, Duration timeout) {
    /** Opens a new transport for one or few connections. The caller closes it. */
    Transport transport(Repository objects) throws IOException {
        Transport transport;
        try {
            transport = Transport.open(objects, new URIish(uri.toString()));
        } catch (URISyntaxException e) {
            throw new IOException("not a URI for Git", e);
        }
        transport.setTimeout((int) Math.max(1, timeout.toSeconds()));
        // Deltas against objects that a mirror left out could not be resolved.
        transport.setFetchThin(false);
        if (transport instanceof TransportHttp http) {
            if (token != null) {
                http.setPreemptiveBasicAuthentication(token.login(), token.value());
            }
            if (ca != null) {
                http.setHttpConnectionFactory(new Trusting(ca));
            }
        }
        return transport;
    }

    /** Makes JDK connections that trust the given authorities. */
    private static final class Trusting implements HttpConnectionFactory {
        private final TrustManager[] trusted;

        Trusting(Path ca) throws IOException {
            this.trusted = ExtraTrust.of(ca);
        }

        @Override
        public HttpConnection create(URL url) throws IOException {
            return believing(new JDKHttpConnectionFactory().create(url));
        }

        @Override
        public HttpConnection create(URL url, Proxy proxy) throws IOException {
            return believing(new JDKHttpConnectionFactory().create(url, proxy));
        }

        private HttpConnection believing(HttpConnection connection) throws IOException {
            try {
                connection.configure(null, trusted, null);
                return connection;
            } catch (GeneralSecurityException e) {
                throw new IOException("TLS can't be set up", e);
            }
        }
    }
}
