package dev.culvert.handlers.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.net.EventLoops;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class EdgeServerTlsIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    private final EventLoops loops = EventLoops.create(1);
    private final CertificateAuthority authority = CertificateAuthority.create("test", Clock.systemUTC());
    private @Nullable EdgeServer server;

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(Duration.ZERO).block(TIME);
        }
        loops.disposeLater(Duration.ZERO, TIME).block();
    }

    @Test
    void servesOverTls() throws Exception {
        Flux<ByteBuf> large = Flux.range(0, 64).map(i -> Unpooled.buffer().writeZero(64 << 10));

        assertThat(get(large)).startsWith("HTTP/1.1 200").endsWith("0\r\n\r\n").hasSizeGreaterThan(4 << 20);
    }

    @Test
    void aBodyThatFailsNeverLooksComplete() throws Exception {
        Flux<ByteBuf> failing = Flux.concat(Flux.just(Unpooled.copiedBuffer("half", StandardCharsets.UTF_8)),
                Flux.error(new IOException("disk")));

        assertThat(get(failing)).startsWith("HTTP/1.1 200").endsWith("<reset>");
    }

    private String get(Flux<ByteBuf> body) throws Exception {
        TlsMaterial material = authority.issueServer(List.of("localhost"),
                List.of(InetAddress.getLoopbackAddress()),
                Duration.ofDays(1));
        var setup = EdgeServer.Setup.of(new HostPort("127.0.0.1", 0), loops)
                .tls(TlsContexts.edge(material, List.of("http/1.1")));
        server = Objects.requireNonNull(EdgeServer.start(setup, request -> Mono
                .just(EdgeResponse.Http.streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(), body)))
                .block(TIME));
        try (var socket = (SSLSocket) trusting().getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(),
                        server.address().port())) {
            socket.setSoTimeout((int) TIME.toMillis());
            socket.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            return readAll(socket.getInputStream());
        }
    }

    private static String readAll(InputStream in) {
        var bytes = new ByteArrayOutputStream();
        String end = "";
        try {
            in.transferTo(bytes);
        } catch (IOException e) {
            end = "<reset>";
        }
        return bytes.toString(StandardCharsets.ISO_8859_1) + end;
    }

    private SSLContext trusting() throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setCertificateEntry("test", authority.certificate());
        TrustManagerFactory factory = TrustManagerFactory
                .getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        return context;
    }
}
