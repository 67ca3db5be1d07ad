package dev.culvert.server.access;

import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.http.net.EventLoops;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.ssl.SslContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** The edge's own requests, to forwardAuth services and to issuers' key endpoints. */
final class OutboundCalls {
    /** The maximum for all services together. A call waits for a connection within its own deadline. */
    private static final int MAX_CONNECTIONS = 256;
    private static final int MAX_WAITING = 1000;
    private static final Duration IDLE = Duration.ofSeconds(30);

    private final ConnectionProvider connections = ConnectionProvider.builder("access")
            .maxConnections(MAX_CONNECTIONS)
            .pendingAcquireMaxCount(MAX_WAITING)
            .maxIdleTime(IDLE)
            .build();
    private final HttpClient http;

    /** @param authorities authorities trusted in addition to the public ones */
    OutboundCalls(EventLoops loops, List<X509Certificate> authorities) {
        ServerTrust trust = authorities.isEmpty()
                ? ServerTrust.inSystemRoots()
                : ServerTrust.inSystemRoots().or(ServerTrust.inAuthorities(authorities));
        SslContext tls = TlsContexts.client(trust, null, List.of());
        http = HttpClient.create(connections).runOn(loops).secure(spec -> spec.sslContext(tls));
    }

    /** The response. Redirects are not followed. */
    static final class Answer {
        private final int status;
        private final HttpHeaders fields;
        private final byte[] body;

        Answer(int status, HttpHeaders fields, byte[] body) {
            this.status = status;
            this.fields = fields;
            this.body = body;
        }

        int status() {
            return status;
        }

        HttpHeaders fields() {
            return fields;
        }

        /** Borrowed: must not be changed. */
        byte[] body() {
            return body;
        }
    }

    /** The body of the response exceeds its limit. */
    static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1;

        TooLargeException(int bytes) {
            super("the answer is larger than " + bytes + " bytes");
        }
    }

    /**
     * Sends a GET. Errors: IOException, TimeoutException. Cancelling drops the connection. Always emits a
     * value.
     */
    Mono<Answer> get(URI url, Consumer<HttpHeaders> fields, int maxBytes, Duration timeout) {
        return http.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(timeout.toMillis()))
                .headers(fields)
                .get()
                .uri(url)
                .response((head, body) -> body.asByteArray()
                        .reduceWith(ByteArrayOutputStream::new, (all, part) -> added(all, part, maxBytes))
                        .map(all -> new Answer(head.status().code(), head.responseHeaders(),
                                all.toByteArray())))
                .next()
                .timeout(timeout);
    }

    private static ByteArrayOutputStream added(ByteArrayOutputStream all, byte[] part, int maxBytes) {
        if (all.size() + part.length > maxBytes) {
            throw Exceptions.propagate(new TooLargeException(maxBytes));
        }
        all.writeBytes(part);
        return all;
    }

    Mono<Void> close() {
        return connections.disposeLater();
    }
}
