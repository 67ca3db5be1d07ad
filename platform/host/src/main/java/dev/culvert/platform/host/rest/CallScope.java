package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.spi.PlatformCaller;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * An authorised call.
 *
 * @param call what was called
 * @param known the caller; null where the call is for {@link RestCall.Who#ANYONE}
 * @param account the account: the caller's own, unless an operator named another; empty without a caller
 * @param isForced whether the caller overrides a refusal, by {@code ?force=true}
 * @param content receives what the call changes, for its audit record; no secrets
 * @param segments the decoded values of the path's variable segments
 * @param queries the decoded values of the query
 * @param failures the pace of those who guess secrets
 */
public record CallScope(RestCall call, @Nullable PlatformCaller known, String account, EdgeRequest request,
        boolean isForced, Consumer<String> content, Map<String, String> segments,
        Map<String, String> queries, FailurePace failures) {
    /**
     * Judges a secret, for a call that is for {@link RestCall.Who#ANYONE}: an address whose judgements failed
     * too often (401, 403) has to wait. Errors: also HandlerException RATE_LIMITED.
     *
     * @param object what the secret is of, spelled in one way only: the wrong secret of one object must not
     *     keep out what one provider sends for others
     */
    public <T> Mono<T> judging(String object, Mono<T> judgement) {
        return failures.paced(request.context().source(), call.template() + " " + object, judgement);
    }

    /** The caller. Calls for anyone have none. */
    public PlatformCaller caller() {
        if (known == null) {
            throw new IllegalStateException("a call for anyone has no caller");
        }
        return known;
    }

    /** The value of a variable segment. */
    public String segment(String name) {
        return segments.getOrDefault(name, "");
    }

    /** A value of the query, or null. */
    public @Nullable String query(String name) {
        return queries.get(name);
    }

    /** The page that the caller asks for. Throws HandlerException BAD_REQUEST. */
    public Page page() {
        Map<String, String> others = new TreeMap<>(queries);
        others.remove(CallQuery.LIMIT);
        others.remove(CallQuery.NEXT);
        return Page.of(queries.get(CallQuery.LIMIT), queries.get(CallQuery.NEXT),
                account + " " + request.path() + " " + others);
    }

    /** Reads a {@link RawBody}. Errors: HandlerException BAD_REQUEST, BODY_TOO_LARGE. */
    public Mono<byte[]> bytes() {
        RawBody raw = call.takes().raw();
        if (raw == null) {
            throw new IllegalStateException(call.template() + " declares no body of its own");
        }
        String field = request.headers().get(HttpHeaderNames.CONTENT_TYPE, "");
        String type = field.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        if (!raw.mediaTypes().isEmpty() && !raw.mediaTypes().contains(type)) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST, "Content-Type: "
                    + (type.isEmpty() ? "missing" : "not of this call") + " (expected: one of "
                    + new TreeSet<>(raw.mediaTypes()) + ")"));
        }
        return request.aggregate(raw.maxBytes());
    }
}
