package dev.culvert.http.net;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.SslContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * A part's own requests to other services, over one pool of connections. Responses are read whole, bounded in
 * size and time. Redirects are not followed. Safe for use by any thread. The creator closes it.
 */
public final class OutboundCalls {
    /** Below the 60 s after which most servers close idle connections. */
    private static final Duration IDLE = Duration.ofSeconds(30);

    /** How many addresses of a name may be silent, one after the other, within a call's time-out. */
    private static final int ADDRESSES_IN_TIME = 3;

    private final ConnectionProvider connections;
    private final HttpClient http;

    private OutboundCalls(ConnectionProvider connections, HttpClient http) {
        this.connections = connections;
        this.http = http;
    }

    /**
     * Creates the calls. Opens no connection.
     *
     * @param pool the name of the pool
     * @param maxConnections the maximum for all services together
     * @param maxWaiting the maximum number of calls that wait for a connection, each within its own time-out
     */
    public OutboundCalls(String pool, int maxConnections, int maxWaiting, EventLoops loops, SslContext tls) {
        connections = ConnectionProvider.builder(pool)
                .maxConnections(maxConnections)
                .pendingAcquireMaxCount(maxWaiting)
                .maxIdleTime(IDLE)
                .build();
        http = HttpClient.create(connections)
                .runOn(loops)
                .resolver(new HostResolver(loops))
                .secure(spec -> spec.sslContext(tls));
    }

    /** The same calls, which accept compressed responses. Limits count the decompressed bytes. */
    public OutboundCalls compressed() {
        return new OutboundCalls(connections, http.compress(true));
    }

    /**
     * A request.
     *
     * @param fields sets the header fields
     * @param body the body, borrowed until the response; null: none
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Call(HttpMethod method, URI url, Consumer<HttpHeaders> fields, byte @Nullable [] body) {}

    /**
     * A response.
     *
     * @param body the body, borrowed: must not be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Answer(int status, HttpHeaders fields, byte[] body) {}

    /** The body of the response exceeds its limit. */
    public static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1;

        public TooLargeException(int bytes) {
            super("the answer is larger than " + bytes + " bytes");
        }
    }

    /** Sends a GET as {@link #send} does. */
    public Mono<Answer> get(URI url, Consumer<HttpHeaders> fields, int maxBytes, Duration timeout) {
        return send(new Call(HttpMethod.GET, url, fields, null), maxBytes, timeout);
    }

    /**
     * Sends a request. Errors: IOException, TimeoutException. Cancelling drops the connection. Always emits a
     * value.
     */
    public Mono<Answer> send(Call call, int maxBytes, Duration timeout) {
        byte[] body = call.body();
        HttpClient.RequestSender request = http
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        Math.max(1, Math.toIntExact(timeout.toMillis() / ADDRESSES_IN_TIME)))
                .headers(fields -> {
                    call.fields().accept(fields);
                    if (body != null) {
                        fields.set(HttpHeaderNames.CONTENT_LENGTH, body.length);
                    }
                })
                .request(call.method())
                .uri(call.url());
        HttpClient.ResponseReceiver<?> sent = body == null
                ? request
                : request.send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)));
        return sent
                .response((head, content) -> content.asByteArray()
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

    /** Closes the connections. */
    public Mono<Void> close() {
        return connections.disposeLater();
    }
}
