package dev.culvert.platform.runtimes.server;

import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.OutboxEntry;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.runtimes.store.AccountTable;
import dev.culvert.platform.runtimes.store.Credential;
import dev.culvert.platform.runtimes.store.EndedRuntime;
import dev.culvert.platform.runtimes.store.RuntimeSecrets;
import dev.culvert.platform.runtimes.store.RuntimeTable;
import dev.culvert.platform.runtimes.store.ServerState;
import dev.culvert.platform.runtimes.store.StoredRuntime;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Delivers the messages to the tunnel server, and notes what became of them. A crash before the note repeats
 * the message, which the server answers in the same way.
 */
public final class ServerCourier implements Outbox.Courier {
    private static final Logger log = LoggerFactory.getLogger(ServerCourier.class);

    private final ServerApi server;
    private final Store store;
    private final RuntimeSecrets secrets;
    private final Clock clock;

    public ServerCourier(ServerApi server, Store store, RuntimeSecrets secrets, Clock clock) {
        this.server = server;
        this.store = store;
        this.secrets = secrets;
        this.clock = clock;
    }

    @Override
    public Mono<Void> deliver(OutboxEntry entry) {
        ServerMessage message = ServerMessage.parse(entry.body());
        return message instanceof ServerMessage.Create create && create.upstream() == null
                ? store.read(connection -> Stored.of(connection, create))
                        .flatMap(stored -> create(create, stored))
                : server.send(message, null).flatMap(outcome -> noted(message, outcome));
    }

    /** What is stored of a created runtime. */
    private record Stored(@Nullable StoredRuntime runtime, @Nullable Credential credential) {
        static Stored of(Connection connection, ServerMessage.Create create) throws SQLException {
            return new Stored(RuntimeTable.find(connection, create.account(), create.name()),
                    RuntimeTable.credential(connection, create.account(), create.name()));
        }
    }

    private Mono<Void> create(ServerMessage.Create create, Stored stored) {
        StoredRuntime runtime = stored.runtime;
        Credential credential = stored.credential;
        if (runtime == null || (credential == null && runtime.serverState() == ServerState.READY)) {
            return Mono.empty(); // it was deleted since, or this message came again
        }
        if (credential == null) {
            return noted(create, new ServerApi.Outcome.Refused(
                    "its token has expired; delete the runtime and create it again"));
        }
        return Mono.fromCallable(() -> secrets.unwrap(create.account(), create.name(), credential))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(unwrapped -> server.send(create, unwrapped))
                .flatMap(outcome -> noted(create, outcome));
    }

    private Mono<Void> noted(ServerMessage message, ServerApi.Outcome outcome) {
        String refusal = outcome instanceof ServerApi.Outcome.Refused refused ? refused.reason() : null;
        return store.change(message.account(), connection -> note(connection, message, refusal))
                .doOnNext(isNews -> tell(isNews, message, refusal))
                .then();
    }

    private static void tell(boolean isNews, ServerMessage message, @Nullable String refusal) {
        if (isNews && refusal != null) {
            log.atWarn()
                    .addKeyValue("runtime", message.account() + "/" + message.name())
                    .addKeyValue("change", message instanceof ServerMessage.Create ? "create" : "delete")
                    .addKeyValue("reason", refusal)
                    .log("the tunnel server refuses a runtime's change");
        }
    }

    /** Returns whether the outcome is another than the last one: a refused deletion is sent each minute. */
    private boolean note(Connection change, ServerMessage message, @Nullable String refusal)
            throws SQLException {
        String account = message.account();
        String name = message.name();
        switch (message) {
            case ServerMessage.Create create -> {
                RuntimeTable.server(change, account, name,
                        refusal == null ? ServerState.READY : ServerState.REFUSED, refusal,
                        clock.instant().getEpochSecond());
                return true;
            }
            case ServerMessage.Delete delete -> {
                if (refusal == null) {
                    AccountTable.forgetEnded(change, account, name);
                    return true;
                }
                EndedRuntime before = AccountTable.ended(change, account, name);
                AccountTable.refuse(change, account, name, refusal);
                return before != null && !refusal.equals(before.refusal());
            }
        }
    }
}
