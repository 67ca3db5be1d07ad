package dev.culvert.platform.directory;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.directory.store.Account;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.KeyOwner;
import dev.culvert.platform.directory.store.StoredKey;
import dev.culvert.platform.directory.store.Team;
import dev.culvert.platform.directory.store.User;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;

/**
 * The calls of {@link PeopleCalls} by the names and in the shapes of the public platform, whose clients are
 * served so. They need what ours need.
 */
final class PublicNameCalls {
    private static final String KEY = "/api/auth/key/{id}";
    private static final String ACTIVE = "active";
    private final Directory directory;

    private PublicNameCalls(Directory directory) {
        this.directory = directory;
    }

    /** The holder of a key. */
    record SubjectView(String type, String ref) {}

    record KeyView(@JsonProperty("_id") String id, String name, String created, String tokenPrefix,
            SubjectView subject) {
        private static final int PREFIX = 8;

        static KeyView of(StoredKey key) {
            return new KeyView(key.id(), key.name(), Instant.ofEpochSecond(key.created()).toString(),
                    key.id().substring(0, PREFIX), new SubjectView("user", String.valueOf(key.user())));
        }
    }

    record MemberView(@JsonProperty("_id") String id, String userName, String email, String status) {
        static MemberView of(User user) {
            return new MemberView(user.id(), user.name(), user.email(), ACTIVE);
        }
    }

    record TeamView(@JsonProperty("_id") String id, String name, String account, List<MemberView> users) {}

    /** A team that was made: its members by their ids. */
    record NewTeamView(@JsonProperty("_id") String id, String name, String account, List<String> users) {}

    record AccountView(@JsonProperty("_id") String id, @JsonProperty("id") String sameId, String name,
            List<String> admins) {}

    record UserView(@JsonProperty("_id") String id, String userName, String email, String status,
            List<String> roles, String activeAccountName, List<AccountView> account) {}

    record NewKey(String name) {
        static NewKey of(JsonFields fields) {
            return new NewKey(fields.text("name"));
        }
    }

    record NewTeam(String name, List<String> users) {
        static NewTeam of(JsonFields fields) {
            return new NewTeam(fields.text("name"), fields.texts("users"));
        }
    }

    static List<RestCall> of(Directory directory) {
        var calls = new PublicNameCalls(directory);
        return List.of(
                RestCall.of(HttpMethod.GET, "/api/auth/keys", Who.ADMIN,
                        "The caller's API keys, without their secrets", calls::keys).gives(KeyView.class),
                RestCall.of(HttpMethod.POST, "/api/auth/key", Who.ADMIN,
                        "Creates an API key of the caller; the answer is its text", calls::addKey)
                        .takes(NewKey.class),
                RestCall.of(HttpMethod.GET, KEY, Who.ADMIN, "One of the caller's API keys", calls::key)
                        .gives(KeyView.class),
                RestCall.of(HttpMethod.DELETE, KEY, Who.ADMIN, "Revokes one of the caller's API keys",
                        calls::removeKey).forcible(),
                RestCall.of(HttpMethod.GET, "/api/team", Who.ADMIN, "The teams of the account",
                        calls::teams).gives(TeamView.class),
                RestCall.of(HttpMethod.POST, "/api/team", Who.ADMIN, "Creates a team", calls::addTeam)
                        .takes(NewTeam.class)
                        .gives(NewTeamView.class),
                RestCall.of(HttpMethod.DELETE, "/api/team/{id}", Who.ADMIN, "Deletes a team",
                        scope -> gone(directory.removeTeam(scope.account(), scope.segment("id")))),
                RestCall.of(HttpMethod.PUT, "/api/team/{id}/{user}/assignUserToTeam", Who.ADMIN,
                        "Adds a user to a team", scope -> gone(calls.member(scope, true))),
                RestCall.of(HttpMethod.PUT, "/api/team/{id}/{user}/deleteUserFromTeam", Who.ADMIN,
                        "Removes a user from a team", scope -> gone(calls.member(scope, false))),
                RestCall.of(HttpMethod.GET, "/api/accounts/{id}/users", Who.ADMIN,
                        "The users of the account", calls::users).gives(MemberView.class),
                RestCall.of(HttpMethod.GET, "/api/user", Who.HOLDER, "The user who calls", calls::user)
                        .gives(UserView.class));
    }

    private static User self(CallScope scope) {
        User user = KeyOwner.of(scope.caller()).user();
        if (user == null) {
            throw HandlerException.of(Reason.FORBIDDEN, "a runtime's key is nobody's");
        }
        return user;
    }

    private Mono<List<StoredKey>> own(CallScope scope) {
        String user = self(scope).id();
        return directory.keys(self(scope).account())
                .map(keys -> keys.stream().filter(key -> user.equals(key.user())).toList());
    }

    private Mono<EdgeResponse.Http> keys(CallScope scope) {
        return own(scope).map(keys -> ok(keys.stream().map(KeyView::of).toList()));
    }

    private Mono<StoredKey> ownKey(CallScope scope) {
        return own(scope).flatMapIterable(Function.identity())
                .filter(key -> key.id().equals(scope.segment("id")))
                .next()
                .switchIfEmpty(Mono.error(
                        () -> HandlerException.of(Reason.NOT_FOUND, "the caller has no such API key")));
    }

    private Mono<EdgeResponse.Http> key(CallScope scope) {
        return ownKey(scope).map(key -> ok(KeyView.of(key)));
    }

    private Mono<EdgeResponse.Http> removeKey(CallScope scope) {
        return ownKey(scope)
                .flatMap(key -> gone(directory.removeKey(key.account(), key.id(), scope.isForced()).then()));
    }

    private Mono<EdgeResponse.Http> addKey(CallScope scope) {
        User user = self(scope);
        return JsonBodies.read(scope.request(), NewKey.class, NewKey::of)
                .flatMap(wanted -> directory.addKey(user.account(), user.id(), null,
                        Bodies.line("name", wanted.name()), null))
                .map(issued -> EdgeResponse.Http
                        .of(HttpResponseStatus.OK, "text/plain",
                                issued.text().reveal().getBytes(StandardCharsets.US_ASCII))
                        .with("cache-control", "no-store")
                        .with("location", "/api/auth/key/" + issued.key().id()));
    }

    private Mono<EdgeResponse.Http> teams(CallScope scope) {
        return Mono.zip(directory.teams(scope.account()), directory.users(scope.account())).map(both -> {
            Map<String, MemberView> users = both.getT2()
                    .stream()
                    .collect(Collectors.toMap(User::id, MemberView::of));
            return ok(both.getT1()
                    .stream()
                    .map(team -> new TeamView(team.id(), team.name(), scope.account(), members(team, users)))
                    .toList());
        });
    }

    private static List<MemberView> members(Team team, Map<String, MemberView> users) {
        return team.members().stream().filter(users::containsKey).map(users::get).toList();
    }

    private Mono<EdgeResponse.Http> addTeam(CallScope scope) {
        return JsonBodies.read(scope.request(), NewTeam.class, NewTeam::of)
                .flatMap(wanted -> directory.addTeam(scope.account(), Bodies.line("name", wanted.name()),
                        wanted.users()))
                .map(team -> ok(new NewTeamView(team.id(), team.name(), scope.account(), team.members()))
                        .with("location", "/api/team/" + team.id()));
    }

    private Mono<Void> member(CallScope scope, boolean member) {
        return directory.setMember(scope.account(), scope.segment("id"), scope.segment("user"), member);
    }

    private Mono<EdgeResponse.Http> users(CallScope scope) {
        String account = scope.segment("id");
        if (!account.equals(scope.account()) && !scope.caller().isOperator()) {
            return Mono.error(HandlerException.of(Reason.NOT_FOUND, "there is no such account"));
        }
        return directory.account(account)
                .then(directory.users(account))
                .map(users -> ok(users.stream().map(MemberView::of).toList()));
    }

    private Mono<EdgeResponse.Http> user(CallScope scope) {
        User user = self(scope);
        return Mono.zip(directory.account(user.account()), directory.admins(user.account()))
                .map(both -> ok(view(user, both.getT1(), both.getT2())));
    }

    private static UserView view(User user, Account account, List<String> admins) {
        return new UserView(user.id(), user.name(), user.email(), ACTIVE,
                user.admin() ? List.of("User", "Admin") : List.of("User"), account.name(),
                List.of(new AccountView(account.id(), account.id(), account.name(), admins)));
    }

    private static EdgeResponse.Http ok(Object view) {
        return JsonBodies.answer(HttpResponseStatus.OK, view);
    }

    private static Mono<EdgeResponse.Http> gone(Mono<Void> done) {
        return done.then(Mono.fromSupplier(() -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT)));
    }
}
