package dev.culvert.appproxy.git;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.SourceAddress;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Authorises Git requests and passes them to {@link GitBackend}. With a control plane the caller needs {@code
 * VIEW}, for pushes {@code UPDATE}, on {@code gitRepositories}, unless the operator allows anonymous fetches.
 * Without a control plane all callers may fetch, and push if pushes are enabled.
 */
final class GitHandler implements EdgeHandler {
    private static final String BASIC = "Basic ";

    private final GitBackend backend;
    private final Access access;
    private final boolean allowPush;
    private final boolean anonymousReads;

    GitHandler(GitBackend backend, Access access, boolean allowPush, boolean anonymousReads) {
        this.backend = backend;
        this.access = access;
        this.allowPush = allowPush;
        this.anonymousReads = anonymousReads;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        GitCall call = GitCall.of(request);
        boolean push = call.service() == GitCall.Service.RECEIVE_PACK;
        if (push && !allowPush) {
            return Mono.error(HandlerException.of(Reason.NOT_ALLOWED, "this cluster takes no pushes"));
        }
        if (!access.knowsCallers() || (anonymousReads && !push)) {
            return backend.serve(call, request, SourceAddress.of(request.context().source()));
        }
        return access.caller(token(request.headers()))
                .onErrorMap(HandlerException.class, GitHandler::asking)
                .flatMap(caller -> allowed(call, caller, request)
                        .then(Mono.defer(() -> backend.serve(call, request,
                                caller.account() + "/" + caller.id()))));
    }

    /**
     * Checks permission. A push is recorded in the audit log when it begins; the repository shows what it
     * changed.
     */
    private Mono<?> allowed(GitCall call, AuthenticatedCaller caller, EdgeRequest request) {
        boolean push = call.service() == GitCall.Service.RECEIVE_PACK;
        var operation = new Operation(push ? "UPDATE" : "VIEW", "gitRepositories", call.repository(),
                Map.of("repository", call.repository()));
        return push && !call.advertisement()
                ? access.change(caller, operation, request.context(), Mono.just(call))
                : access.allow(caller, operation);
    }

    /**
     * Takes the API key from the password of Basic authentication, as Git sends it. The user name is ignored.
     */
    private static HttpHeaders token(HttpHeaders headers) {
        String field = headers.get(HttpHeaderNames.AUTHORIZATION, "");
        if (!field.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            return headers;
        }
        try {
            String both = new String(Base64.getDecoder().decode(field.substring(BASIC.length()).strip()),
                    StandardCharsets.ISO_8859_1);
            return headers.copy()
                    .set(HttpHeaderNames.AUTHORIZATION, "Bearer " + both.substring(both.indexOf(':') + 1));
        } catch (IllegalArgumentException e) {
            return headers;
        }
    }

    private static HandlerException asking(HandlerException refused) {
        return refused.reason() == Reason.UNAUTHORIZED
                ? refused.with(HttpHeaderNames.WWW_AUTHENTICATE, "Basic realm=\"Git\", charset=\"UTF-8\"")
                : refused;
    }
}
