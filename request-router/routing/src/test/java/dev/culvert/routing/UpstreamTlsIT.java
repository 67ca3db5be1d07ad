package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamTls;
import dev.culvert.routing.RawUpstream.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Upstreams that speak TLS. The upstream's engine is Java's, the router's whatever the system has. */
class UpstreamTlsIT {
    private static final CertificateAuthority AUTHORITY = CertificateAuthority.create("test",
            Clock.systemUTC());
    static final TlsLink LINK = TlsLink.of("upstream", "upstreams.postQuantum", PostQuantum.PREFER);
    private static final UpstreamTls TRUSTING = UpstreamTls
            .trusting(ServerTrust.inAuthorities(List.of(AUTHORITY.certificate())), LINK);

    private final EventLoops loops = EventLoops.create(1);
    private final RawUpstream upstream = new RawUpstream();
    private SingleUpstream relay = relay("127.0.0.1", TRUSTING);

    @AfterEach
    void nothingIsLeft() {
        relay.close();
        Leaks.assertNone(relay::bufferedBytes, relay::openConnections);
        upstream.close();
        loops.dispose();
    }

    private SingleUpstream relay(String host, UpstreamTls tls) {
        URI to = URI.create("https://" + host + ":" + upstream.port());
        return SingleUpstream.create(UpstreamTemplate.of(to), UpstreamLimits.defaults(), tls, LINK);
    }

    private Asker asker() {
        return new Asker(relay, loops.group().next());
    }

    /** The next connection, and its socket under the TLS. */
    private Secured accept() throws Exception {
        TlsMaterial material = AUTHORITY.issueServer(List.of(), List.of(InetAddress.getLoopbackAddress()),
                Duration.ofHours(1));
        Socket plain = upstream.acceptSocket();
        return new Secured(new Peer(secured(plain, material)), plain);
    }

    /** The socket as a server's end of TLS, by Java's engine. */
    static SSLSocket secured(Socket plain, TlsMaterial material) throws IOException {
        try {
            return securedBy(plain, material);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static SSLSocket securedBy(Socket plain, TlsMaterial material)
            throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("upstream", material.key(), new char[0],
                material.chain().toArray(new Certificate[0]));
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        var secured = (SSLSocket) context.getSocketFactory().createSocket(plain, null, plain.getPort(), true);
        secured.setUseClientMode(false);
        return secured;
    }

    private record Secured(Peer peer, Socket plain) {}

    @Test
    void exchangesCrossAndTheirConnectionIsKept() throws Exception {
        Asker first = asker().get("/");
        Peer peer = accept().peer();
        Loopback.answer(peer);
        first.awaitEnd();

        Asker second = asker().open(Kind.HTTP, "POST", "/", false, "content-length", "4")
                .send("body")
                .finish();
        peer.readHead();
        assertThat(peer.read(4)).isEqualTo("body");
        peer.write(head("HTTP/1.1 200 OK", "content-length: 2") + "ok");

        second.awaitEnd().awaitConsumed(4);
        assertThat(relay.openConnections()).isEqualTo(1);
    }

    @Test
    void anUpstreamThatNobodyVouchesForIsTold() throws Exception {
        relay = relay("127.0.0.1", UpstreamTls.trusting(ServerTrust.inSystemRoots(), LINK));
        Asker asker = asker().get("/");

        assertThat(failedHandshake(asker)).isEqualTo(Cause.UPSTREAM_TLS);
    }

    @Test
    void anUpstreamOfAnotherNameIsTold() throws Exception {
        relay = relay("localhost", TRUSTING);
        Asker asker = asker().open(Kind.HTTP, "POST", "/", false).send("held");

        assertThat(failedHandshake(asker)).isEqualTo(Cause.UPSTREAM_TLS);
    }

    private Cause failedHandshake(Asker asker) throws Exception {
        Secured secured = accept();
        Thread.startVirtualThread(() -> {
            try (Peer peer = secured.peer()) {
                peer.read();
            } catch (UncheckedIOException e) {
                // the router's alert
            }
        });
        return asker.awaitProblem().cause();
    }

    @Test
    void anUpstreamWithoutTlsIsTold() {
        Asker asker = asker().get("/");

        upstream.accept().write(head("HTTP/1.1 400 Bad Request"));

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_TLS);
    }

    @Test
    void aBodyWithoutLengthEndsWhenTheUpstreamSaysSo() throws Exception {
        Asker asker = asker().get("/");
        Peer peer = accept().peer();
        peer.readHead();

        peer.write(head("HTTP/1.1 200 OK") + "all").close();

        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("all");
    }

    @Test
    void aBodyWithoutLengthThatIsCutOffIsNoEnd() throws Exception {
        Asker asker = asker().get("/");
        Secured secured = accept();
        secured.peer().readHead();
        secured.peer().write(head("HTTP/1.1 200 OK") + "part");
        asker.awaitBody("part");

        secured.plain().close();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
    }

    @Test
    void rawBytesCrossAndEnd() throws Exception {
        Asker asker = asker().open(Kind.UPGRADE, "GET", "/", false, "upgrade", "websocket");
        Peer peer = accept().peer();
        peer.readHead();
        peer.write(
                head("HTTP/1.1 101 Switching Protocols", "connection: upgrade", "upgrade: websocket") + "hi");
        asker.awaitBody("hi");

        asker.send("ho").finish();
        assertThat(peer.read(2)).isEqualTo("ho");
        assertThat(peer.read()).isEqualTo(-1);
        peer.close();

        asker.awaitEnd();
    }

    @Test
    void manyBytesCross() throws Exception {
        int bytes = 16 << 20;
        Asker asker = asker().open(Kind.HTTP, "POST", "/", false, "content-length", Integer.toString(bytes));
        asker.upload(bytes);
        Peer peer = accept().peer();
        peer.readHead();
        assertThat(peer.readChecksum(bytes)).isEqualTo(Asker.checksumOf(bytes));
        peer.write(head("HTTP/1.1 200 OK", "content-length: " + bytes))
                .writePattern(bytes, new AtomicLong());

        asker.awaitEnd();
        assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(bytes));
    }
}
