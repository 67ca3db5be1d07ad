package dev.culvert.platform.directory;

import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.directory.store.Account;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.KeyOwner;
import dev.culvert.platform.directory.store.User;
import dev.culvert.platform.host.rest.StoreRefusal;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.store.StoreException;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/** The GraphQL field {@code me}: the caller's user. */
final class MeFunction implements GraphQlFunction {
    private final Directory directory;
    private final Callers callers;

    MeFunction(Directory directory, Callers callers) {
        this.directory = directory;
        this.callers = callers;
    }

    record Me(String id, String name, String email, boolean isAdmin, List<Account> accounts,
            Account activeAccount) {}

    @Override
    public String schema() {
        return """
                extend type Query { me: User! }
                type User {
                  id: ID!
                  name: String!
                  email: String!
                  isAdmin: Boolean!
                  accounts: [Account!]!
                  activeAccount: Account!
                }
                type Account { id: ID! name: String! }
                """;
    }

    @Override
    public Map<String, GraphQlField> fields() {
        return Map.of("Query.me", this::me);
    }

    private Mono<Me> me(GraphQlCall call) {
        return callers.caller(call.headers(), call.context()).flatMap(caller -> {
            User user = KeyOwner.of(caller).user();
            if (user == null) {
                return Mono.error(HandlerException.of(Reason.FORBIDDEN, "a runtime's key is nobody's"));
            }
            return directory.account(user.account())
                    .map(account -> new Me(user.id(), user.name(), user.email(), user.admin(),
                            List.of(account), account))
                    .onErrorMap(StoreException.class, StoreRefusal::told);
        });
    }
}
