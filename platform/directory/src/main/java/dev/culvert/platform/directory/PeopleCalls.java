package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.directory.Bodies.Items;
import dev.culvert.platform.directory.Call.Who;
import dev.culvert.platform.directory.store.Account;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.Id;
import dev.culvert.platform.directory.store.IssuedKey;
import dev.culvert.platform.directory.store.Rule;
import dev.culvert.platform.directory.store.StoredKey;
import dev.culvert.platform.directory.store.Team;
import dev.culvert.platform.directory.store.User;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The calls for administrators: accounts, users, teams, API keys, rules. */
final class PeopleCalls {
    private final Directory directory;

    private PeopleCalls(Directory directory) {
        this.directory = directory;
    }

    record IssuedView(String id, @Nullable String user, @Nullable String runtime, String name,
            @Nullable Long expires, String key) {
        static IssuedView of(IssuedKey issued) {
            StoredKey key = issued.key();
            return new IssuedView(key.id(), key.user(), key.runtime(), key.name(), key.expires(),
                    issued.text().reveal());
        }

        @Override
        public String toString() {
            return "IssuedView[" + id + ", ***]";
        }
    }

    /** A runtime that has registered its URL. */
    record RuntimeView(String name, String url) {}

    static List<Call> of(Directory directory) {
        var calls = new PeopleCalls(directory);
        return List.of(
                new Call(HttpMethod.GET, "/api/accounts", Who.OPERATOR,
                        scope -> list(directory.accounts())),
                new Call(HttpMethod.POST, "/api/accounts", Who.OPERATOR, calls::addAccount),
                new Call(HttpMethod.GET, "/api/users", Who.ADMIN,
                        scope -> list(directory.users(scope.account()))),
                new Call(HttpMethod.POST, "/api/users", Who.ADMIN, calls::addUser),
                new Call(HttpMethod.DELETE, "/api/users/{id}", Who.ADMIN,
                        calls::removeUser),
                new Call(HttpMethod.GET, "/api/teams", Who.ADMIN,
                        scope -> list(directory.teams(scope.account()))),
                new Call(HttpMethod.POST, "/api/teams", Who.ADMIN, calls::addTeam),
                new Call(HttpMethod.DELETE, "/api/teams/{id}", Who.ADMIN,
                        scope -> gone(directory.removeTeam(scope.account(), scope.segment("id")))),
                new Call(HttpMethod.PUT, "/api/teams/{id}/members/{user}", Who.ADMIN,
                        scope -> gone(calls.member(scope, true))),
                new Call(HttpMethod.DELETE, "/api/teams/{id}/members/{user}", Who.ADMIN,
                        scope -> gone(calls.member(scope, false))),
                new Call(HttpMethod.GET, "/api/keys", Who.ADMIN,
                        scope -> list(directory.keys(scope.account()))),
                new Call(HttpMethod.POST, "/api/keys", Who.ADMIN, calls::addKey),
                new Call(HttpMethod.DELETE, "/api/keys/{id}", Who.ADMIN,
                        calls::removeKey),
                new Call(HttpMethod.GET, "/api/runtimes", Who.ADMIN, calls::runtimes),
                new Call(HttpMethod.GET, "/api/abac", Who.ADMIN,
                        scope -> list(directory.rules(scope.account()))),
                new Call(HttpMethod.POST, "/api/abac", Who.ADMIN, calls::addRule),
                new Call(HttpMethod.DELETE, "/api/abac/{id}", Who.ADMIN,
                        scope -> gone(directory.removeRule(scope.account(), scope.segment("id")))));
    }

    private Mono<EdgeResponse.Http> addAccount(Scope scope) {
        return Bodies.read(scope.request(), Bodies.NewAccount.class, Bodies.NewAccount::of)
                .flatMap(wanted -> created(scope, directory
                        .addAccount(wanted.id() == null ? Id.create() : wanted.id(), wanted.name()),
                        Account::id));
    }

    private Mono<EdgeResponse.Http> addUser(Scope scope) {
        return Bodies.read(scope.request(), Bodies.NewUser.class, Bodies.NewUser::of)
                .flatMap(wanted -> created(scope, directory.addUser(scope.account(), wanted.name(),
                        wanted.email(), wanted.admin()), User::id));
    }

    private Mono<EdgeResponse.Http> removeUser(Scope scope) {
        String id = scope.segment("id");
        if (scope.holder().name().equals(id)) {
            return Mono.error(HandlerException.of(Reason.CONFLICT, "nobody removes themselves"));
        }
        return sparingOperators(scope, id, gone(directory.removeUser(scope.account(), id)));
    }

    private Mono<EdgeResponse.Http> removeKey(Scope scope) {
        String id = scope.segment("id");
        return sparingOperators(scope, id, gone(directory.removeKey(scope.account(), id).then()));
    }

    /**
     * Restricts changes of operators to operators. Other administrators of their account must not become
     * operators by a new key, nor lock operators out.
     */
    private <T> Mono<T> sparingOperators(Scope scope, @Nullable String id, Mono<T> work) {
        return id == null || scope.holder().isOperator()
                ? work
                : directory.isOperators(scope.account(), id)
                        .flatMap(theirs -> theirs
                                ? Mono.error(HandlerException.of(Reason.FORBIDDEN,
                                        "only operators may do this to an operator"))
                                : work);
    }

    private Mono<EdgeResponse.Http> addTeam(Scope scope) {
        return Bodies.read(scope.request(), Bodies.NewTeam.class, Bodies.NewTeam::of)
                .flatMap(wanted -> created(scope,
                        directory.addTeam(scope.account(), wanted.name(), wanted.members()), Team::id));
    }

    private Mono<Void> member(Scope scope, boolean member) {
        return directory.setMember(scope.account(), scope.segment("id"), scope.segment("user"), member);
    }

    private Mono<EdgeResponse.Http> addKey(Scope scope) {
        return Bodies.read(scope.request(), Bodies.NewKey.class, Bodies.NewKey::of)
                .flatMap(wanted -> wanted.expires() != null && wanted.expires() <= directory.now()
                        ? Mono.error(Bodies.invalid("expires: " + wanted.expires()
                                + " is past (expected: seconds since 1970, in the future)"))
                        : sparingOperators(scope, wanted.user(), created(scope, directory
                                .addKey(scope.account(), wanted.user(), wanted.runtime(),
                                        wanted.name() == null ? "key" : wanted.name(), wanted.expires())
                                .map(IssuedView::of), IssuedView::id)));
    }

    private Mono<EdgeResponse.Http> runtimes(Scope scope) {
        return list(directory.urls(scope.account())
                .map(urls -> urls.entrySet()
                        .stream()
                        .map(entry -> new RuntimeView(entry.getKey(), entry.getValue()))
                        .toList()));
    }

    private Mono<EdgeResponse.Http> addRule(Scope scope) {
        return Bodies.read(scope.request(), Bodies.NewRule.class, Bodies.NewRule::of).flatMap(wanted -> {
            try {
                return created(scope, directory.addRule(scope.account(), wanted.rule()), Rule::id);
            } catch (IllegalArgumentException e) {
                return Mono.error(Bodies.invalid(String.valueOf(e.getMessage())));
            }
        });
    }

    private static Mono<EdgeResponse.Http> list(Mono<? extends List<?>> items) {
        return items.map(all -> Bodies.answer(HttpResponseStatus.OK, Items.of(all)));
    }

    private static <T> Mono<EdgeResponse.Http> created(Scope scope, Mono<T> made, Function<T, String> id) {
        return made.map(view -> Bodies.answer(HttpResponseStatus.CREATED, view)
                .with("location", scope.request().path() + "/" + id.apply(view)));
    }

    private static Mono<EdgeResponse.Http> gone(Mono<Void> done) {
        return done.then(Mono.fromSupplier(() -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT)));
    }
}
