package dev.culvert.platform.directory;

import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.KeyOwner;
import dev.culvert.platform.directory.store.User;
import dev.culvert.platform.host.rest.StoreRefusal;
import dev.culvert.platform.host.spi.AccountSettings;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.store.StoreException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The GraphQL field {@code me}: the caller, with its account. */
final class MeFunction implements GraphQlFunction {
    private final Directory directory;
    private final AccountSettings settings;
    private final Callers callers;

    MeFunction(Directory directory, AccountSettings settings, Callers callers) {
        this.directory = directory;
        this.settings = settings;
        this.callers = callers;
    }

    record AccountView(String id, String name, @Nullable String gitProvider, @Nullable String gitApiUrl,
            @Nullable String sharedConfigRepo, boolean csdpValidated, List<String> admins) {}

    /** @param runtimeName of a runtime's key; null: it is a user's */
    record Me(String id, String name, String email, boolean isAdmin, @Nullable String runtimeName,
            List<AccountView> accounts, AccountView activeAccount) {}

    @Override
    public String schema() {
        return """
                extend type Query {
                  "The user who calls, or the runtime"
                  me: User!
                }
                type User {
                  id: ID!
                  name: String!
                  email: String!
                  isAdmin: Boolean!
                  "Of a runtime, whose id and name it is too"
                  runtimeName: String
                  accounts: [Account!]!
                  activeAccount: Account!
                }
                type Account {
                  id: ID!
                  name: String!
                  gitProvider: String
                  gitApiUrl: String
                  sharedConfigRepo: String
                  "Whether the three are set"
                  csdpValidated: Boolean!
                  "The ids of the first 100 administrators"
                  admins: [ID!]!
                }
                """;
    }

    @Override
    public Map<String, GraphQlField> fields() {
        return Map.of("Query.me", this::me);
    }

    private Mono<Me> me(GraphQlCall call) {
        return callers.caller(call.headers(), call.context())
                .flatMap(caller -> account(caller.account()).map(account -> of(caller, account)))
                .onErrorMap(StoreException.class, StoreRefusal::told);
    }

    private Mono<AccountView> account(String id) {
        return Mono.zip(directory.account(id), settings.of(id), directory.admins(id)).map(all -> {
            AccountSettings.GitSettings git = all.getT2();
            return new AccountView(id, all.getT1().name(), git.gitProvider(), git.gitApiUrl(),
                    git.sharedConfigRepo(), git.isComplete(), all.getT3());
        });
    }

    private static Me of(PlatformCaller caller, AccountView account) {
        User user = KeyOwner.of(caller).user();
        String runtime = String.valueOf(caller.runtime());
        return user == null
                ? new Me(runtime, runtime, "", false, runtime, List.of(account), account)
                : new Me(user.id(), user.name(), user.email(), user.admin(), null, List.of(account), account);
    }
}
