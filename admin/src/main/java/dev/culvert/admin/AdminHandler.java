package dev.culvert.admin;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Answers the calls of an admin API. Everything below {@code /api/} needs a bearer token, unknown paths
 * included, and each call a role. Errors of the store become problems.
 */
public final class AdminHandler implements EdgeHandler {
    /** Far above any body of an admin API. */
    public static final int MAX_BODY_BYTES = 64 << 10;
    private static final String PROTECTED = "/api/";
    private static final String SCHEME = "Bearer ";
    private static final Duration RETRY_WHEN_BUSY = Duration.ofSeconds(1);
    private static final Duration RETRY_WHEN_FULL = Duration.ofMinutes(1);

    private final Tokens tokens;
    private final String accepted;
    private final List<AdminRoute> routes;
    private final RefusedCalls refusals;

    /** Knows the callers of an API by their tokens. */
    @FunctionalInterface
    public interface Tokens {
        /** The caller with this token; empty if it is unknown. Errors: {@link StoreException}. */
        Mono<AdminCaller> caller(String presented);
    }

    /**
     * @param accepted names the tokens in refusals: {@code token of admin.tokenFile}
     * @param refusals records the calls that are refused
     */
    public AdminHandler(Tokens tokens, String accepted, List<AdminRoute> routes, RefusedCalls refusals) {
        this.refusals = refusals;
        this.tokens = tokens;
        this.accepted = accepted;
        this.routes = List.copyOf(routes);
    }

    /** The calls. */
    public List<AdminRoute> routes() {
        return routes;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        return finished(request.path().startsWith(PROTECTED)
                ? noted(request, authorized(request))
                        .flatMap(known -> noted(known, Mono.defer(() -> route(known))))
                : Mono.defer(() -> route(request)));
    }

    /**
     * Answers a call of this process, as {@link #handle}, whose caller is authenticated already: the context
     * has an {@link AdminCaller}. Any other caller is refused.
     */
    public Mono<EdgeResponse> call(EdgeRequest request) {
        return finished(request.context().caller() instanceof AdminCaller
                ? noted(request, Mono.defer(() -> route(request)))
                : Mono.error(unauthorized("this call has no authenticated caller")));
    }

    private static Mono<EdgeResponse> finished(Mono<EdgeResponse> answer) {
        return answer.map(AdminHandler::hardened).onErrorMap(StoreException.class, AdminHandler::refusal);
    }

    private <T> Mono<T> noted(EdgeRequest request, Mono<T> answer) {
        return answer.doOnError(HandlerException.class, why -> refusals.refused(request, why));
    }

    private Mono<EdgeResponse> route(EdgeRequest request) {
        String path = request.path();
        Set<HttpMethod> allowed = new LinkedHashSet<>();
        for (AdminRoute route : routes) {
            Map<String, String> segments = route.template().match(path);
            if (segments == null) {
                continue;
            }
            if (route.serves(request.method())) {
                requireRole(request, route);
                return route.call().answer(request, segments);
            }
            allowed.add(route.method());
        }
        return Mono.error(allowed.isEmpty()
                ? HandlerException.of(Reason.NOT_FOUND, "the admin API has no such path; see /openapi.yaml")
                : HandlerException.methodNotAllowed(allowed.toArray(HttpMethod[]::new)));
    }

    private Mono<EdgeRequest> authorized(EdgeRequest request) {
        String presented = bearer(request);
        if (presented == null) {
            return Mono.error(unauthorized(
                    "this call needs the header Authorization: Bearer <" + accepted + ">"));
        }
        return tokens.caller(presented)
                .switchIfEmpty(Mono.error(
                        () -> unauthorized("the token is unknown (expected: the " + accepted + ")")))
                .map(caller -> request.withContext(request.context().withCaller(caller)));
    }

    private static void requireRole(EdgeRequest request, AdminRoute route) {
        if (request.context().caller() instanceof AdminCaller caller && !route.admits(caller.role())) {
            throw HandlerException.of(Reason.FORBIDDEN, "this call needs an admin token of the role "
                    + route.role().word() + "; " + caller.name() + " has " + caller.role().word());
        }
    }

    /** The token that a caller presents, or null. */
    public static @Nullable String bearer(EdgeRequest request) {
        List<String> fields = request.headers().getAll(HttpHeaderNames.AUTHORIZATION);
        // RFC 9110 §11.1: the scheme's name is compared without case.
        return fields.size() == 1 && fields.getFirst().regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                ? fields.getFirst().substring(SCHEME.length()).strip()
                : null;
    }

    private static HandlerException unauthorized(String detail) {
        return HandlerException.of(Reason.UNAUTHORIZED, detail)
                .with(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer realm=\"culvert-admin\"");
    }

    private static EdgeResponse hardened(EdgeResponse response) {
        return response instanceof EdgeResponse.Http http
                ? http.with("x-content-type-options", "nosniff")
                : response;
    }

    /** Returns the problem of a store's error. Other failures stay as they are. */
    public static Throwable refusal(StoreException refused) {
        String message = refused.getMessage();
        String detail = message == null ? "" : message;
        return switch (refused) {
            case StoreException.Absent absent -> HandlerException.of(Reason.NOT_FOUND, detail);
            case StoreException.Conflict conflict -> HandlerException.of(Reason.CONFLICT, detail);
            case StoreException.Full full -> HandlerException.of(Reason.CONFLICT, detail);
            case StoreException.Unfit unfit -> HandlerException.of(Reason.BAD_REQUEST, detail);
            case StoreException.Busy busy ->
                HandlerException.of(Reason.OVERLOADED, detail).retryAfter(RETRY_WHEN_BUSY);
            case StoreException.Held held ->
                HandlerException.of(Reason.DRAINING, detail).retryAfter(RETRY_WHEN_BUSY);
            case StoreException.Away away ->
                HandlerException.of(Reason.UNAVAILABLE, detail).retryAfter(RETRY_WHEN_BUSY);
            case StoreException.Unknown unknown -> HandlerException.of(Reason.UNAVAILABLE, detail);
            case StoreException.Failed failed ->
                failed.isDiskFull()
                        ? HandlerException.of(Reason.OVERLOADED, detail).retryAfter(RETRY_WHEN_FULL)
                        : failed;
        };
    }
}
