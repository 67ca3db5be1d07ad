package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.directory.store.Account;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.Id;
import dev.culvert.platform.directory.store.IssuedKey;
import dev.culvert.platform.directory.store.Rule;
import dev.culvert.platform.directory.store.StoredKey;
import dev.culvert.platform.directory.store.Team;
import dev.culvert.platform.directory.store.User;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The calls for administrators: accounts, users, teams, API keys, rules. */
final class PeopleCalls {
    private final Directory directory;

    private final ChangeNotifier notifier;

    private PeopleCalls(Directory directory, ChangeNotifier notifier) {
        this.notifier = notifier;
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

    static List<RestCall> of(Directory directory, ChangeNotifier notifier) {
        var calls = new PeopleCalls(directory, notifier);
        return List.of(
                RestCall.of(HttpMethod.GET, "/api/accounts", Who.OPERATOR,
                        "All accounts", scope -> list(directory.accounts())).lists(Account.class),
                RestCall.of(HttpMethod.POST, "/api/accounts", Who.OPERATOR,
                        "Creates an account", calls::addAccount)
                        .takes(Bodies.NewAccount.class)
                        .creates(Account.class),
                RestCall.of(HttpMethod.DELETE, "/api/accounts/{id}", Who.OPERATOR,
                        "Deletes an account with all that belongs to it",
                        calls::removeAccount),
                RestCall.of(HttpMethod.GET, "/api/users", Who.ADMIN,
                        "The users of the account", scope -> list(directory.users(scope.account())))
                        .lists(User.class),
                RestCall.of(HttpMethod.POST, "/api/users", Who.ADMIN,
                        "Creates a user", calls::addUser).takes(Bodies.NewUser.class).creates(User.class),
                RestCall.of(HttpMethod.DELETE, "/api/users/{id}", Who.ADMIN,
                        "Deletes a user, with their keys", calls::removeUser).forcible(),
                RestCall.of(HttpMethod.GET, "/api/teams", Who.ADMIN,
                        "The teams of the account", scope -> list(directory.teams(scope.account())))
                        .lists(Team.class),
                RestCall.of(HttpMethod.POST, "/api/teams", Who.ADMIN,
                        "Creates a team", calls::addTeam).takes(Bodies.NewTeam.class).creates(Team.class),
                RestCall.of(HttpMethod.DELETE, "/api/teams/{id}", Who.ADMIN,
                        "Deletes a team",
                        scope -> gone(directory.removeTeam(scope.account(), scope.segment("id")))),
                RestCall.of(HttpMethod.PUT, "/api/teams/{id}/members/{user}", Who.ADMIN,
                        "Adds a user to a team", scope -> gone(calls.member(scope, true))),
                RestCall.of(HttpMethod.DELETE, "/api/teams/{id}/members/{user}", Who.ADMIN,
                        "Removes a user from a team", scope -> gone(calls.member(scope, false))),
                RestCall.of(HttpMethod.GET, "/api/keys", Who.ADMIN,
                        "The API keys of the account, without their secrets",
                        scope -> list(directory.keys(scope.account()))).lists(StoredKey.class),
                RestCall.of(HttpMethod.POST, "/api/keys", Who.ADMIN,
                        "Creates an API key for a user or a runtime; the answer alone shows it",
                        calls::addKey).takes(Bodies.NewKey.class).creates(IssuedView.class),
                RestCall.of(HttpMethod.DELETE, "/api/keys/{id}", Who.ADMIN,
                        "Revokes an API key", calls::removeKey).forcible(),
                RestCall.of(HttpMethod.GET, "/api/runtimes", Who.ADMIN,
                        "The runtimes that registered a URL", calls::runtimes).lists(RuntimeView.class),
                RestCall.of(HttpMethod.GET, "/api/abac", Who.ADMIN,
                        "The rules of the account", scope -> list(directory.rules(scope.account())))
                        .lists(Rule.class),
                RestCall.of(HttpMethod.POST, "/api/abac", Who.ADMIN,
                        "Creates a rule", calls::addRule).takes(Bodies.NewRule.class).creates(Rule.class),
                RestCall.of(HttpMethod.DELETE, "/api/abac/{id}", Who.ADMIN,
                        "Deletes a rule",
                        calls::removeRule));
    }

    private Mono<EdgeResponse.Http> addAccount(CallScope scope) {
        return JsonBodies.read(scope.request(), Bodies.NewAccount.class, Bodies.NewAccount::of)
                .flatMap(wanted -> created(scope, directory
                        .addAccount(wanted.id() == null ? Id.create() : wanted.id(), wanted.name()),
                        Account::id));
    }

    private Mono<EdgeResponse.Http> removeAccount(CallScope scope) {
        String id = scope.segment("id");
        return gone(directory.removeAccount(id).doOnNext(urls -> notifier.tell(id, urls)).then());
    }

    private Mono<EdgeResponse.Http> addUser(CallScope scope) {
        return JsonBodies.read(scope.request(), Bodies.NewUser.class, Bodies.NewUser::of)
                .flatMap(wanted -> created(scope, directory.addUser(scope.account(), wanted.name(),
                        wanted.email(), wanted.admin()), User::id));
    }

    private Mono<EdgeResponse.Http> removeUser(CallScope scope) {
        String id = scope.segment("id");
        if (scope.caller().getName().equals(id)) {
            return Mono.error(HandlerException.of(Reason.CONFLICT, "nobody removes themselves"));
        }
        return sparingOperators(scope, id, gone(directory.removeUser(scope.account(), id, scope.isForced())));
    }

    private Mono<EdgeResponse.Http> removeKey(CallScope scope) {
        String id = scope.segment("id");
        return sparingOperators(scope, id,
                gone(directory.removeKey(scope.account(), id, scope.isForced()).then()))
                .flatMap(done -> warned(scope, done));
    }

    /** Warns after an operator's change of keys if no operator has a lasting one. */
    private <T> Mono<T> warned(CallScope scope, T done) {
        return scope.caller().isOperator()
                ? DirectoryProvider.warnOfEnd(directory).onErrorComplete().thenReturn(done)
                : Mono.just(done);
    }

    /**
     * Restricts changes of operators to operators. Other administrators of their account must not become
     * operators by a new key, nor lock operators out.
     */
    private <T> Mono<T> sparingOperators(CallScope scope, @Nullable String id, Mono<T> work) {
        return id == null || scope.caller().isOperator()
                ? work
                : directory.isOperators(scope.account(), id)
                        .flatMap(theirs -> theirs
                                ? Mono.error(HandlerException.of(Reason.FORBIDDEN,
                                        "only operators may do this to an operator"))
                                : work);
    }

    private Mono<EdgeResponse.Http> addTeam(CallScope scope) {
        return JsonBodies.read(scope.request(), Bodies.NewTeam.class, Bodies.NewTeam::of)
                .flatMap(wanted -> created(scope,
                        directory.addTeam(scope.account(), wanted.name(), wanted.members()), Team::id));
    }

    private Mono<Void> member(CallScope scope, boolean member) {
        return directory.setMember(scope.account(), scope.segment("id"), scope.segment("user"), member);
    }

    private Mono<EdgeResponse.Http> addKey(CallScope scope) {
        return JsonBodies.read(scope.request(), Bodies.NewKey.class, Bodies.NewKey::of)
                .flatMap(wanted -> wanted.expires() != null && wanted.expires() <= directory.now()
                        ? Mono.error(Bodies.invalid("expires: " + wanted.expires()
                                + " is past (expected: seconds since 1970, in the future)"))
                        : sparingOperators(scope, wanted.user(), created(scope, directory
                                .addKey(scope.account(), wanted.user(), wanted.runtime(),
                                        wanted.name() == null ? "key" : wanted.name(), wanted.expires())
                                .map(IssuedView::of), IssuedView::id)))
                .flatMap(done -> warned(scope, done));
    }

    private Mono<EdgeResponse.Http> runtimes(CallScope scope) {
        return list(directory.urls(scope.account())
                .map(urls -> urls.entrySet()
                        .stream()
                        .map(entry -> new RuntimeView(entry.getKey(), entry.getValue()))
                        .toList()));
    }

    private Mono<EdgeResponse.Http> addRule(CallScope scope) {
        return JsonBodies.read(scope.request(), Bodies.NewRule.class, Bodies.NewRule::of).flatMap(wanted -> {
            try {
                Rule rule = wanted.rule();
                scope.content().accept(" " + content(rule));
                return created(scope, directory.addRule(scope.account(), rule), Rule::id);
            } catch (IllegalArgumentException e) {
                return Mono.error(Bodies.invalid(String.valueOf(e.getMessage())));
            }
        });
    }

    private Mono<EdgeResponse.Http> removeRule(CallScope scope) {
        String id = scope.segment("id");
        return directory.rules(scope.account())
                .doOnNext(rules -> rules.stream()
                        .filter(rule -> rule.id().equals(id))
                        .findFirst()
                        .ifPresent(rule -> scope.content().accept(" " + content(rule))))
                .then(gone(directory.removeRule(scope.account(), id)));
    }

    /** What a rule allows, for the audit log. */
    private static String content(Rule rule) {
        return rule.entity() + " " + rule.actions() + ", teams " + rule.teams() + ", users " + rule.users()
                + ", attributes " + rule.attributes();
    }

    private static Mono<EdgeResponse.Http> list(Mono<? extends List<?>> items) {
        return items.map(all -> JsonBodies.answer(HttpResponseStatus.OK, JsonBodies.Items.of(all)));
    }

    private static <T> Mono<EdgeResponse.Http> created(CallScope scope, Mono<T> made,
            Function<T, String> id) {
        return made.map(view -> JsonBodies.answer(HttpResponseStatus.CREATED, view)
                .with("location", scope.request().path() + "/" + id.apply(view)));
    }

    private static Mono<EdgeResponse.Http> gone(Mono<Void> done) {
        return done.then(Mono.fromSupplier(() -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT)));
    }
}
