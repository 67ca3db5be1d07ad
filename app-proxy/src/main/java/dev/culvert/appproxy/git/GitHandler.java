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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Authorises Git requests and passes them to {@link GitBackend}. With a control plane the caller needs {@code
 * VIEW}, for pushes {@code UPDATE} of each branch and {@code DELETE} where something is lost, on {@code
 * gitRepositories}, unless the operator allows anonymous fetches. Without a control plane all callers may
 * fetch, and push if pushes are enabled.
 */
final class GitHandler implements EdgeHandler {
    private static final String BASIC = "Basic ";
    private static final String REPOSITORIES = "gitRepositories";
    private static final String VIEW = "VIEW";
    private static final String UPDATE = "UPDATE";
    private static final String DELETE = "DELETE";
    /** The number of refs that an audit record names. */
    private static final int NAMED = 5;

    private final GitBackend backend;
    private final Access access;
    private final boolean allowPush;
    private final boolean allowRewrites;
    private final boolean anonymousReads;

    GitHandler(GitBackend backend, Access access, boolean allowPush, boolean allowRewrites,
            boolean anonymousReads) {
        this.allowRewrites = allowRewrites;
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
            return backend.serve(call, request, SourceAddress.of(request.context().source()),
                    this::ofAnybody);
        }
        return access.caller(token(request.headers()))
                .onErrorMap(HandlerException.class, GitHandler::asking)
                .flatMap(caller -> {
                    Mono<EdgeResponse> served = Mono.defer(() -> backend.serve(call, request,
                            caller.account() + "/" + caller.id(),
                            updates -> judged(call, caller, request, updates)));
                    return push && !call.advertisement() ? served : seen(call, caller).then(served);
                });
    }

    /** Before a push Git lists the refs. It needs no more than to see them; rules decide on each later. */
    private Mono<Void> seen(GitCall call, AuthenticatedCaller caller) {
        Mono<Void> view = access.allow(caller, operation(VIEW, call));
        return call.service() == GitCall.Service.RECEIVE_PACK
                ? access.allow(caller, operation(UPDATE, call))
                        .onErrorResume(GitHandler::isForbidden, refused -> view)
                : view;
    }

    private Mono<PushRights> ofAnybody(List<RefUpdate> updates) {
        boolean movesTags = updates.stream()
                .anyMatch(update -> update.isLossy() && update.kind() == RefUpdate.Kind.UPDATE);
        return movesTags && !allowRewrites
                ? Mono.error(HandlerException.of(Reason.NOT_ALLOWED, "this cluster moves no tags"))
                : Mono.just(new PushRights(null, allowRewrites, allowRewrites));
    }

    /**
     * Checks permission for each ref: {@code UPDATE}, and {@code DELETE} for what is lost. A push is recorded
     * in the audit log when it begins, as {@code DELETE} if it deletes a ref or moves a tag; the repository
     * shows what it changed. What is lost comes first, in the questions and the record.
     */
    private Mono<PushRights> judged(GitCall call, AuthenticatedCaller caller, EdgeRequest request,
            List<RefUpdate> updates) {
        if (updates.isEmpty()) {
            return seen(call, caller).thenReturn(PushRights.NONE); // Git asks so whether its key is right
        }
        List<RefUpdate> sorted = updates.stream()
                .sorted(Comparator.comparing(RefUpdate::isLossy).reversed())
                .toList();
        List<Operation> operations = sorted.stream()
                .map(update -> operation(update.isLossy() ? DELETE : UPDATE, call, update))
                .distinct()
                .toList();
        return mayRewrite(call, caller, updates)
                .flatMap(rewrites -> access.change(caller, operations.getFirst().of(names(call, sorted)),
                        operations.subList(1, operations.size()), request.context(),
                        Mono.just(new PushRights(caller, true, rewrites))));
    }

    private static String names(GitCall call, List<RefUpdate> updates) {
        int more = updates.size() - NAMED;
        return updates.stream()
                .limit(NAMED)
                .map(RefUpdate::branch)
                .collect(Collectors.joining(",", call.repository() + "@",
                        more > 0 ? " and " + more + " more" : ""));
    }

    /** Whether the caller may drop commits from all branches of the push that are there already. */
    private Mono<Boolean> mayRewrite(GitCall call, AuthenticatedCaller caller, List<RefUpdate> updates) {
        return Flux.fromIterable(updates)
                .filter(update -> update.kind() == RefUpdate.Kind.UPDATE && !update.isLossy())
                .map(update -> operation(DELETE, call, update))
                .distinct()
                .concatMap(operation -> access.allow(caller, operation))
                .then(Mono.just(true))
                .onErrorResume(GitHandler::isForbidden, refused -> Mono.just(false));
    }

    private static boolean isForbidden(Throwable error) {
        return error instanceof HandlerException refused && refused.reason() == Reason.FORBIDDEN;
    }

    private static Operation operation(String action, GitCall call) {
        return new Operation(action, REPOSITORIES, call.repository(),
                Map.of("repository", call.repository()));
    }

    private static Operation operation(String action, GitCall call, RefUpdate update) {
        return Operation.ofOne(action, REPOSITORIES, call.repository() + "@" + update.branch(),
                Map.of("repository", call.repository(), "branch", update.branch()));
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
