package dev.culvert.appproxy.repositories.provider;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.repositories.Integration;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.net.OutboundCalls;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Calls one provider's REST API as the owner of a token: only at the API's own origin, without following
 * redirects. Responses are bounded in size and time, GETs are conditional, and the rate limit is obeyed.
 * Errors are HandlerExceptions as in {@link Integration}. Callable from any thread; cancelling drops the
 * call.
 */
public final class ProviderCalls {
    /** The maximum size of a response. A hundred repositories of GitHub take about 700 KiB. */
    static final int MAX_ANSWER_BYTES = 4 << 20;

    private static final JsonMapper JSON = new JsonMapper();
    private static final int MAX_ATTEMPTS = 3;

    private final String name;
    private final URI api;
    private final OutboundCalls http;
    private final Patience patience;
    private final BiConsumer<HttpHeaders, GitToken> authorize;
    private final KnownReplies known = new KnownReplies();
    private final RateLimits limits = new RateLimits();
    private final ProviderFailures failures;

    /** @param authorize puts the token into a request's fields */
    public ProviderCalls(String name, URI api, OutboundCalls http, Patience patience,
            BiConsumer<HttpHeaders, GitToken> authorize) {
        this.name = name;
        this.api = api;
        this.http = http;
        this.patience = patience;
        this.authorize = authorize;
        this.failures = new ProviderFailures(name);
    }

    /**
     * The waits of a call.
     *
     * @param timeout the limit for one response
     * @param maxWait the total wait for a provider that limits its rate
     */
    public record Patience(Duration timeout, Duration maxWait) {}

    /** Gets {@code <api><path>}. */
    Mono<ProviderReply> get(GitToken token, String path) {
        return get(token, URI.create(api + path));
    }

    /**
     * Gets a URL reported by the provider. Errors: UPSTREAM_BAD_RESPONSE when it is not at the API's own
     * origin.
     */
    Mono<ProviderReply> get(GitToken token, URI url) {
        return call(new Call(HttpMethod.GET, url, token, null));
    }

    /** Posts JSON to {@code <api><path>}. */
    Mono<ProviderReply> post(GitToken token, String path, JsonNode body) {
        return Mono.fromCallable(() -> JSON.writeValueAsBytes(body))
                .flatMap(bytes -> call(
                        new Call(HttpMethod.POST, URI.create(api + path), token, bytes)));
    }

    private Mono<ProviderReply> call(Call call) {
        if (!sameOrigin(call.url())) {
            return Mono.error(HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE,
                    name + " names a next page at another server, which is not followed"));
        }
        return Mono.defer(() -> attempt(call, 1, patience.maxWait()));
    }

    private Mono<ProviderReply> attempt(Call call, int number, Duration waitLeft) {
        Duration blocked = limits.left(call.token());
        if (!blocked.isZero()) {
            return later(call, number, waitLeft, blocked);
        }
        return send(call).onErrorMap(error -> failures.ofTransport(error)).flatMap(reply -> {
            Duration wait = limits.seen(call.token(), reply);
            if (wait != null) {
                return later(call, number + 1, waitLeft, wait);
            }
            return reply.status() >= 200 && reply.status() < 300
                    ? Mono.just(reply)
                    : Mono.error(failures.ofReply(reply, call.token()));
        });
    }

    private Mono<ProviderReply> later(Call call, int number, Duration waitLeft, Duration wait) {
        if (number > MAX_ATTEMPTS || wait.compareTo(waitLeft) > 0) {
            return Mono.error(HandlerException
                    .of(Reason.RATE_LIMITED, name + " limits how often this Git token may ask")
                    .retryAfter(wait));
        }
        return Mono.delay(wait).then(Mono.defer(() -> attempt(call, number, waitLeft.minus(wait))));
    }

    private Mono<ProviderReply> send(Call call) {
        ProviderReply before = call.body() == null ? known.of(call.token(), call.url()) : null;
        return http
                .send(new OutboundCalls.Call(call.method(), call.url(),
                        fields -> fields(fields, call, before), call.body()), MAX_ANSWER_BYTES,
                        patience.timeout())
                .map(answer -> new ProviderReply(answer.status(), answer.fields(), answer.body()))
                .map(reply -> call.body() == null
                        ? known.seen(call.token(), call.url(), before, reply)
                        : reply);
    }

    private void fields(HttpHeaders fields, Call call, @Nullable ProviderReply before) {
        authorize.accept(fields, call.token());
        fields.set(HttpHeaderNames.USER_AGENT, "culvert");
        if (!fields.contains(HttpHeaderNames.ACCEPT)) {
            fields.set(HttpHeaderNames.ACCEPT, "application/json");
        }
        if (call.body() != null) {
            fields.set(HttpHeaderNames.CONTENT_TYPE, "application/json");
        }
        String tag = before == null ? null : before.tag();
        if (tag != null) {
            fields.set(HttpHeaderNames.IF_NONE_MATCH, tag);
        }
    }

    private boolean sameOrigin(URI url) {
        return url.getScheme() != null && url.getHost() != null && url.getRawUserInfo() == null
                && origin(url).equals(origin(api));
    }

    private static String origin(URI url) {
        String scheme = url.getScheme().toLowerCase(Locale.ROOT);
        int port = url.getPort() >= 0 ? url.getPort() : scheme.equals("https") ? 443 : 80;
        return scheme + "://" + url.getHost().toLowerCase(Locale.ROOT) + ":" + port;
    }

    /** One request; null body: a GET. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Call(HttpMethod method, URI url, GitToken token, byte @Nullable [] body) {}
}
