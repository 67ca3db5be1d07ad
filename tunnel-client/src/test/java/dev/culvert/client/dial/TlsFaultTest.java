package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.util.Map;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

class TlsFaultTest {
    @Test
    void faultsAreTold() {
        Map<Throwable, String> told = Map.of(
                new NotSslRecordException("not an SSL/TLS record: 485454502f312e3120343030"),
                "no TLS is spoken there: the tunnel listener has another port",
                new SslHandshakeTimeoutException("handshake timed out after 10000ms"),
                "no TLS handshake in time: is this the tunnel's port?", new ClosedChannelException(),
                "the connection was closed during TLS: ",
                new SSLHandshakeException("Connection closed while SSL/TLS handshake was in progress"),
                "the connection was closed during TLS: ",
                new SSLHandshakeException(
                        "error:10000410:SSL routines:OPENSSL_internal:SSLV3_ALERT_HANDSHAKE_FAILURE"),
                "the server ended TLS with the alert handshake failure",
                new SSLHandshakeException("Received fatal alert: internal_error"),
                "the server ended TLS with the alert internal error", new SSLException("anything else"),
                "the handshake failed", new IOException("Connection reset by peer"),
                "Connection reset by peer",
                new DecoderException(
                        new SSLException("engine",
                                new CertificateException("the certificate is not trusted"))),
                "the certificate is not trusted");

        assertThat(told).allSatisfy((fault, text) -> assertThat(TlsFault.of(fault)).startsWith(text)
                .doesNotContain("SSL", "Exception", "error:"));
    }

    @Test
    void faultsBehindTheHandshakeAreNoneOfIt() {
        Map<Throwable, String> told = Map.of(new ClosedChannelException(), "the connection was closed",
                new SSLException("closing inbound before receiving peer's close_notify"),
                "the connection was closed", new SSLException("error:10000119:BAD_RECORD_MAC"),
                "TLS broke: what arrived is damaged, or was changed on the way",
                new NotSslRecordException("not an SSL/TLS record: 48"),
                "what arrived there is no TLS any more",
                new SSLException("Received fatal alert: bad_certificate"),
                "the server ended TLS with the alert bad certificate");

        assertThat(told).allSatisfy((fault, text) -> assertThat(TlsFault.of(fault, true)).isEqualTo(text));
    }
}
