package dev.culvert.client.identity;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertsException;
import dev.culvert.client.dial.Connector;
import dev.culvert.client.dial.DialFailure;
import dev.culvert.client.dial.Dialler;
import dev.culvert.client.dial.HttpCall;
import dev.culvert.client.dial.Refusal;
import dev.culvert.client.dial.TlsFault;
import dev.culvert.config.HostPort;
import dev.culvert.http.problem.Problem;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpContentException;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Client of a server's resource that issues certificates. Exchanges small JSON documents by POST, with limits
 * of size and time.
 */
public final class EnrolmentHttp {
    /** The maximum response. A response has two certificates and a few names, about 2 KiB. */
    public static final int MAX_ANSWER_BYTES = 16 * 1024;
    /** The time-out of a complete request, above the sum of its slow but successful steps. */
    private static final Duration TOTAL_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration MAX_RETRY_AFTER = Duration.ofHours(1);
    private static final int MAX_DETAIL_CHARS = 300;
    /** Our own words, with names of a certificate. */
    private static final int MAX_TLS_CHARS = 600;
    /** The statuses of a final refusal. 400, 429 and 5xx may be temporary. */
    private static final Set<Integer> FINAL = Set.of(401, 403, 404, 409);
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final Connector connector;
    private final SslContext tls;
    private final EventLoop loop;
    private final HostPort server;
    private final String path;
    private final String uri;

    /**
     * @param tunnel the address of the tunnel, {@code wss://…/tunnel/v1}
     * @param resource the resource below that address, {@code enrol} or {@code renew}
     * @param loop the event loop of the connections
     */
    EnrolmentHttp(URI tunnel, String resource, SslContext tls, Connector connector, EventLoop loop) {
        this.uri = "https" + tunnel.toString().substring("wss".length()) + "/" + resource;
        this.path = tunnel.getRawPath() + "/" + resource;
        this.server = Dialler.address(tunnel);
        this.tls = tls;
        this.connector = connector;
        this.loop = loop;
    }

    /**
     * Posts a document. Cancelling closes the connection. Errors: {@link EnrolmentException}. Never empty.
     *
     * @param expected the status of success
     */
    Mono<JsonNode> post(Map<String, String> document, int expected) {
        return Mono.fromCallable(() -> JSON.writeValueAsBytes(document))
                .flatMap(body -> connector.open(server, loop)
                        .flatMap(channel -> HttpCall.over(channel, tls, server, request(body),
                                MAX_ANSWER_BYTES)))
                .map(answer -> read(answer, expected))
                .timeout(TOTAL_TIMEOUT)
                .onErrorMap(e -> !(e instanceof EnrolmentException), this::failed);
    }

    private FullHttpRequest request(byte[] body) {
        var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, path,
                Unpooled.wrappedBuffer(body));
        request.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, "application/json")
                .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                .set(HttpHeaderNames.ACCEPT, "application/json, " + Problem.MEDIA_TYPE);
        return request;
    }

    /**
     * Requests a nonce and passes it to {@code proven}. If that is refused, retries once with another nonce,
     * because the server may have restarted and lost the first.
     *
     * @param question the document that requests the nonce
     * @param bytes the length of the nonce
     */
    <T> Mono<T> withNonce(Map<String, String> question, int bytes, Function<byte[], Mono<T>> proven) {
        Mono<byte[]> nonce = post(question, 200).map(answer -> bytes(answer, "nonce", bytes));
        return nonce.flatMap(first -> proven.apply(first)
                .onErrorResume(EnrolmentException.Refused.class, refused -> nonce.flatMap(proven)));
    }

    /** Decodes a member of {@code length} bytes. Throws {@link EnrolmentException} for others. */
    byte[] bytes(JsonNode answer, String member, int length) {
        return decoded("", () -> Base64Url.decode(member, text(answer, member), length));
    }

    /** Returns a member's text. Throws {@link EnrolmentException} if there is none. */
    String text(JsonNode answer, String member) {
        JsonNode value = answer.path(member);
        if (!value.isTextual()) {
            throw strange("an answer without " + member);
        }
        return value.textValue();
    }

    /**
     * Returns the public URL of {@code host} in an answer. Null if there is none, or one of another host: no
     * proof covers it, and it is shown to people.
     */
    static @Nullable URI publicUrl(JsonNode answer, String host) {
        try {
            URI url = new URI(answer.path("url").asText());
            boolean fits = "https".equals(url.getScheme()) && host.equalsIgnoreCase(url.getHost())
                    && url.getRawUserInfo() == null && url.getRawPath().isEmpty() && url.getRawQuery() == null
                    && url.getRawFragment() == null;
            return fits ? url : null;
        } catch (URISyntaxException e) {
            return null;
        }
    }

    /**
     * Returns the result of {@code read}. Throws {@link EnrolmentException} if the answer can't be decoded,
     * with {@code prefix} before the reason.
     */
    <T> T decoded(String prefix, Supplier<T> read) {
        try {
            return read.get();
        } catch (CertsException e) {
            throw strange(prefix + e.getMessage());
        }
    }

    EnrolmentException.Failed strange(String what) {
        return new EnrolmentException.Failed(uri + ": " + what, null);
    }

    EnrolmentException.Refused refused(String what) {
        return new EnrolmentException.Refused(uri + ": " + what);
    }

    private JsonNode read(HttpCall.Answer answer, int expected) {
        int status = answer.status();
        String body = answer.body();
        String type = answer.fields().get(HttpHeaderNames.CONTENT_TYPE, "");
        if (status != expected) {
            throw refusal(answer, status, type.startsWith(Problem.MEDIA_TYPE) ? detail(body) : null);
        }
        try {
            return JSON.readTree(body);
        } catch (IOException e) {
            // Jackson's message quotes the document.
            throw strange("an answer that is no JSON (" + printable(type) + ")");
        }
    }

    private EnrolmentException refusal(HttpCall.Answer answer, int status, @Nullable String detail) {
        if (detail == null) {
            return new EnrolmentException.Failed(
                    uri + ": status " + status + " from something that is no Culvert server", null,
                    retryAfter(answer));
        }
        String message = uri + ": " + detail + " (" + status + ")";
        return FINAL.contains(status)
                ? new EnrolmentException.Refused(message)
                : new EnrolmentException.Failed(message, null, retryAfter(answer));
    }

    /** The detail of Culvert's problem document; null for any other body. */
    private static @Nullable String detail(String body) {
        try {
            JsonNode problem = JSON.readTree(body);
            String type = problem.path("type").asText();
            String detail = problem.path("detail").asText();
            if (!type.startsWith(Refusal.PROBLEM)) {
                return null;
            }
            return Refusal.isOfEdge(type)
                    ? Refusal.EDGE_ANSWERED
                    : printable(detail.isEmpty() ? type : detail);
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * Limits the length of a peer's text and removes control characters, because the text is shown in a
     * terminal.
     */
    private static String printable(String text) {
        return printable(text, MAX_DETAIL_CHARS);
    }

    private static String printable(String text, int most) {
        String cut = text.length() > most ? text.substring(0, most) + "…" : text;
        return cut.replaceAll("\\p{C}", "?");
    }

    private static @Nullable Duration retryAfter(HttpCall.Answer answer) {
        String seconds = answer.fields().get(HttpHeaderNames.RETRY_AFTER, "");
        if (!seconds.matches("\\d{1,9}")) {
            return null;
        }
        Duration wait = Duration.ofSeconds(Long.parseLong(seconds));
        return wait.compareTo(MAX_RETRY_AFTER) > 0 ? MAX_RETRY_AFTER : wait;
    }

    private EnrolmentException.Failed failed(Throwable cause) {
        if (cause instanceof TooLongHttpContentException) {
            return strange("an answer of more than " + MAX_ANSWER_BYTES + " bytes");
        }
        if (cause instanceof DialFailure) {
            return new EnrolmentException.Failed(uri + ": " + cause.getMessage(), cause);
        }
        if (cause instanceof TimeoutException) {
            return new EnrolmentException.Failed(uri + ": no answer in time", cause);
        }
        return new EnrolmentException.Failed(uri + ": " + printable(TlsFault.of(cause), MAX_TLS_CHARS),
                cause);
    }
}
