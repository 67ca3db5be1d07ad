package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.directory.rules.AccessDecisions;
import dev.culvert.platform.directory.store.AccessQuery;
import dev.culvert.platform.directory.store.Changes;
import dev.culvert.platform.directory.store.Decision;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.KeyOwner;
import dev.culvert.platform.directory.store.RuntimeTokens;
import dev.culvert.platform.directory.store.User;
import dev.culvert.platform.directory.wrapping.WrappingException;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The calls of App-Proxies with their runtime's key, and the calls of any holder about itself. */
final class RuntimeTokenCalls {
    private final Directory directory;
    private final AccessDecisions decisions;
    private final AllowedOrigins origins;
    private final AuditTrail audit;

    private RuntimeTokenCalls(Directory directory, AccessDecisions decisions, AllowedOrigins origins,
            AuditTrail audit) {
        this.decisions = decisions;
        this.audit = audit;
        this.directory = directory;
        this.origins = origins;
    }

    /**
     * The owner of a token.
     *
     * @param state {@code known}, {@code foreign} for a user of another account, {@code unknown}
     * @param user the user, only if the state is {@code known}
     * @param expires when the token expires, in seconds since 1970; null: it does not expire
     */
    record Resolved(String state, @Nullable User user, @Nullable Long expires) {
        static final Resolved UNKNOWN = new Resolved("unknown", null, null);
    }

    static List<RestCall> of(Directory directory, AccessDecisions decisions, AllowedOrigins origins,
            AuditTrail audit) {
        var calls = new RuntimeTokenCalls(directory, decisions, origins, audit);
        return List.of(RestCall.of(HttpMethod.GET, "/api/me", Who.HOLDER,
                "The user who calls", RuntimeTokenCalls::me).gives(User.class),
                RestCall.of(HttpMethod.POST, "/api/abac/decide", Who.HOLDER,
                        "Whether a user may do something", calls::decide)
                        .takes(Bodies.Ask.class)
                        .gives(Decision.class),
                RestCall.of(HttpMethod.POST, "/api/runtime-tokens", Who.HOLDER,
                        "Issues a short-lived token for one runtime", calls::issue)
                        .takes(Bodies.NewRuntimeToken.class)
                        .creates(RuntimeTokens.Issued.class),
                RestCall.of(HttpMethod.POST, "/api/tokens/resolve", Who.RUNTIME,
                        "Whose a token is", calls::resolve).takes(Bodies.Token.class).gives(Resolved.class),
                RestCall.of(HttpMethod.GET, "/api/changes", Who.RUNTIME,
                        "What changed since a position", calls::changes).gives(Changes.class),
                RestCall.of(HttpMethod.PUT, "/api/runtime", Who.RUNTIME,
                        "Registers the URL of the runtime", calls::reach).takes(Bodies.Reach.class));
    }

    private static Mono<EdgeResponse.Http> me(CallScope scope) {
        User user = KeyOwner.of(scope.caller()).user();
        return user == null
                ? Mono.error(HandlerException.of(Reason.FORBIDDEN, "a runtime's key is nobody's"))
                : Mono.fromSupplier(() -> ok(user));
    }

    private Mono<EdgeResponse.Http> decide(CallScope scope) {
        return JsonBodies.read(scope.request(), Bodies.Ask.class, Bodies.Ask::of).flatMap(asked -> {
            User self = KeyOwner.of(scope.caller()).user();
            String user = asked.user() == null ? (self == null ? "" : self.id()) : asked.user();
            if (self != null && !self.id().equals(user) && !scope.caller().isAdmin()) {
                return Mono.error(HandlerException.of(Reason.FORBIDDEN,
                        "only administrators and runtimes ask about others"));
            }
            try {
                var question = new AccessQuery(user, asked.entity(), asked.action(),
                        asked.attributes());
                return decisions.decide(scope.account(), question).map(RuntimeTokenCalls::ok);
            } catch (IllegalArgumentException e) {
                return Mono.error(Bodies.invalid(String.valueOf(e.getMessage())));
            }
        });
    }

    private Mono<EdgeResponse.Http> issue(CallScope scope) {
        KeyOwner owner = KeyOwner.of(scope.caller());
        return owner.user() == null
                ? Mono.error(HandlerException.of(Reason.FORBIDDEN, "a runtime's key is nobody's"))
                : JsonBodies.read(scope.request(), Bodies.NewRuntimeToken.class, Bodies.NewRuntimeToken::of)
                        .flatMap(wanted -> directory.issueToken(owner, wanted.runtime(), wanted.seconds()))
                        .onErrorMap(WrappingException.class, TokenKeyCalls::told)
                        .map(issued -> JsonBodies.answer(HttpResponseStatus.CREATED, issued));
    }

    private Mono<EdgeResponse.Http> resolve(CallScope scope) {
        return JsonBodies.read(scope.request(), Bodies.Token.class, Bodies.Token::of)
                .flatMap(body -> (RuntimeTokens.looksLike(body.token())
                        ? directory.tokenOf(scope.account(), runtime(scope), body.token())
                                .map(known -> new Resolved("known", known.user(), known.expires()))
                        : directory.holder(body.token()).map(holder -> resolved(holder, scope.account())))
                        .defaultIfEmpty(Resolved.UNKNOWN))
                .onErrorMap(WrappingException.class, TokenKeyCalls::told)
                .map(RuntimeTokenCalls::ok);
    }

    private static String runtime(CallScope scope) {
        return String.valueOf(KeyOwner.of(scope.caller()).key().runtime());
    }

    /** A runtime's key belongs to no user, so neither can be used in place of the other. */
    private static Resolved resolved(KeyOwner holder, String account) {
        User user = holder.user();
        if (user == null) {
            return Resolved.UNKNOWN;
        }
        return holder.account().equals(account)
                ? new Resolved("known", user, holder.key().expires())
                : new Resolved("foreign", null, null);
    }

    private Mono<EdgeResponse.Http> changes(CallScope scope) {
        return directory.changes(scope.account(), since(scope.request().query())).map(RuntimeTokenCalls::ok);
    }

    private static long since(@Nullable String query) {
        if (query == null) {
            return -1;
        }
        if (!query.matches("since=\\d{1,18}")) {
            throw Bodies.invalid("the query has to be since=NUMBER, or none");
        }
        return Long.parseLong(query.substring("since=".length()));
    }

    private Mono<EdgeResponse.Http> reach(CallScope scope) {
        return JsonBodies.read(scope.request(), Bodies.Reach.class, Bodies.Reach::of).flatMap(body -> {
            String origin = origins.origin(body.url());
            if (origin == null) {
                return Mono.error(HandlerException.of(Reason.FORBIDDEN,
                        "the control plane's nudge.allow does not cover that URL"));
            }
            return directory.reached(scope.account(), runtime(scope), origin)
                    .flatMap(isNew -> isNew ? noted(scope, origin) : Mono.empty())
                    .then(Mono.fromSupplier(() -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT)));
        });
    }

    private Mono<Void> noted(CallScope scope, String origin) {
        return audit.write(new AuditTrail.Entry(scope.caller().getName(), scope.account(), "PUT", "directory",
                "/api/runtime " + origin, AuditTrail.Decision.ALLOWED,
                scope.request().context().requestId(), null, null));
    }

    private static EdgeResponse.Http ok(Object view) {
        return JsonBodies.answer(HttpResponseStatus.OK, view);
    }
}
