package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.directory.Call.Who;
import dev.culvert.platform.directory.store.AccessQuery;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.KeyOwner;
import dev.culvert.platform.directory.store.RuntimeTokens;
import dev.culvert.platform.directory.store.User;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The calls of App-Proxies with their runtime's key, and the calls of any holder about itself. */
final class RuntimeTokenCalls {
    private final Directory directory;
    private final AllowedOrigins origins;
    private final AuditTrail audit;

    private RuntimeTokenCalls(Directory directory, AllowedOrigins origins, AuditTrail audit) {
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

    static List<Call> of(Directory directory, AllowedOrigins origins, AuditTrail audit) {
        var calls = new RuntimeTokenCalls(directory, origins, audit);
        return List.of(new Call(HttpMethod.GET, "/api/me", Who.HOLDER, RuntimeTokenCalls::me),
                new Call(HttpMethod.POST, "/api/abac/decide", Who.HOLDER, calls::decide),
                new Call(HttpMethod.POST, "/api/runtime-tokens", Who.HOLDER, calls::issue),
                new Call(HttpMethod.POST, "/api/tokens/resolve", Who.RUNTIME, calls::resolve),
                new Call(HttpMethod.GET, "/api/changes", Who.RUNTIME, calls::changes),
                new Call(HttpMethod.PUT, "/api/runtime", Who.RUNTIME, calls::reach));
    }

    private static Mono<EdgeResponse.Http> me(Scope scope) {
        User user = scope.holder().user();
        return user == null
                ? Mono.error(HandlerException.of(Reason.FORBIDDEN, "a runtime's key is nobody's"))
                : Mono.fromSupplier(() -> ok(user));
    }

    private Mono<EdgeResponse.Http> decide(Scope scope) {
        return Bodies.read(scope.request(), Bodies.Ask.class, Bodies.Ask::of).flatMap(asked -> {
            User self = scope.holder().user();
            String user = asked.user() == null ? (self == null ? "" : self.id()) : asked.user();
            if (self != null && !self.id().equals(user) && !scope.holder().isAdmin()) {
                return Mono.error(HandlerException.of(Reason.FORBIDDEN,
                        "only administrators and runtimes ask about others"));
            }
            try {
                var question = new AccessQuery(user, asked.entity(), asked.action(),
                        asked.attributes());
                return directory.decide(scope.account(), question).map(RuntimeTokenCalls::ok);
            } catch (IllegalArgumentException e) {
                return Mono.error(Bodies.invalid(String.valueOf(e.getMessage())));
            }
        });
    }

    private Mono<EdgeResponse.Http> issue(Scope scope) {
        User user = scope.holder().user();
        return user == null
                ? Mono.error(HandlerException.of(Reason.FORBIDDEN, "a runtime's key is nobody's"))
                : Bodies.read(scope.request(), Bodies.NewRuntimeToken.class, Bodies.NewRuntimeToken::of)
                        .flatMap(wanted -> directory.issueToken(user, wanted.runtime(), wanted.seconds()))
                        .map(issued -> Bodies.answer(HttpResponseStatus.CREATED, issued));
    }

    private Mono<EdgeResponse.Http> resolve(Scope scope) {
        return Bodies.read(scope.request(), Bodies.Token.class, Bodies.Token::of)
                .flatMap(body -> (RuntimeTokens.looksLike(body.token())
                        ? directory.tokenOf(scope.account(), runtime(scope), body.token())
                                .map(known -> new Resolved("known", known.user(), known.expires()))
                        : directory.holder(body.token()).map(holder -> resolved(holder, scope.account())))
                        .defaultIfEmpty(Resolved.UNKNOWN))
                .map(RuntimeTokenCalls::ok);
    }

    private static String runtime(Scope scope) {
        return String.valueOf(scope.holder().key().runtime());
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

    private Mono<EdgeResponse.Http> changes(Scope scope) {
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

    private Mono<EdgeResponse.Http> reach(Scope scope) {
        return Bodies.read(scope.request(), Bodies.Reach.class, Bodies.Reach::of).flatMap(body -> {
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

    private Mono<Void> noted(Scope scope, String origin) {
        return audit.write(new AuditTrail.Entry(scope.holder().name(), scope.account(), "PUT", "directory",
                "/api/runtime " + origin, AuditTrail.Decision.ALLOWED,
                scope.request().context().requestId(), null, null));
    }

    private static EdgeResponse.Http ok(Object view) {
        return Bodies.answer(HttpResponseStatus.OK, view);
    }
}
