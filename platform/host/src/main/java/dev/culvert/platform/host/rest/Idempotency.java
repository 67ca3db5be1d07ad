package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.platform.host.store.RepeatableRequest;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * POSTs that their callers named with {@code Idempotency-Key}: sent again, they change nothing and get the
 * first answer. An answer with a secret is not stored, so it can't be given again.
 */
final class Idempotency {
    private static final String FIELD = "idempotency-key";
    private static final Pattern KEY = Pattern.compile("[!-~]{1,255}");
    private static final Pattern ID = Pattern.compile("\"k?id\":\"([^\"]{1,128})\"");

    private static final Duration RETRY_WHEN_FULL = Duration.ofMinutes(1);

    private Idempotency() {}

    /** Runs {@code work} with a request of an account. Errors: HandlerException BAD_REQUEST, CONFLICT. */
    static Mono<EdgeResponse> once(RestCall call, EdgeRequest request, PlatformCaller caller, String account,
            Function<EdgeRequest, Mono<EdgeResponse>> work) {
        String key = request.headers().get(FIELD);
        if (key == null || !call.changes() || !request.method().equals(HttpMethod.POST)) {
            return work.apply(request);
        }
        if (!KEY.matcher(key).matches()) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                    "Idempotency-Key has to be 1..255 printable characters of ASCII"));
        }
        return request.aggregate(call.takes().maxBytes())
                .flatMap(body -> {
                    String who = caller.account() + "/" + caller.getName();
                    var named = new RepeatableRequest(account, who, digest("key", key),
                            digest(request.target(), new String(body, StandardCharsets.UTF_8)),
                            made -> call.gives() != null && call.gives().isInstance(made)
                                    ? new String(JsonBodies.bytes(made), StandardCharsets.UTF_8)
                                    : null);
                    return work
                            .apply(new EdgeRequest(request.method(), request.target(), request.headers(),
                                    Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(body))),
                                    request.context()))
                            .contextWrite(Context.of(RepeatableRequest.class, named));
                })
                .onErrorResume(RepeatableRequest.Repeated.class,
                        repeated -> Mono.fromCallable(() -> first(call, request, repeated)))
                .onErrorMap(RepeatableRequest.TooMany.class,
                        full -> HandlerException.of(Reason.RATE_LIMITED, String.valueOf(full.getMessage()))
                                .retryAfter(RETRY_WHEN_FULL));
    }

    private static EdgeResponse first(RestCall call, EdgeRequest request,
            RepeatableRequest.Repeated repeated) {
        if (!repeated.isSame()) {
            throw HandlerException.of(Reason.CONFLICT,
                    "this Idempotency-Key belongs to another request (expected: a new key for each)");
        }
        String body = repeated.body();
        if (body == null) {
            throw HandlerException.of(Reason.CONFLICT, "this request was carried out before; its answer has a"
                    + " secret and is given once (expected: look for what it made)");
        }
        HttpResponseStatus status = call.creates() ? HttpResponseStatus.CREATED : HttpResponseStatus.OK;
        EdgeResponse.Http answer = EdgeResponse.Http
                .of(status, "application/json", body.getBytes(StandardCharsets.UTF_8))
                .with("cache-control", "no-store")
                .with("idempotency-replayed", "true");
        Matcher id = ID.matcher(body);
        return call.creates() && id.find()
                ? answer.with("location", request.path() + "/" + id.group(1))
                : answer;
    }

    private static String digest(@Nullable String... texts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String text : texts) {
                byte[] bytes = String.valueOf(text).getBytes(StandardCharsets.UTF_8);
                digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
                digest.update(bytes);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
