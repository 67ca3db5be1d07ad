package dev.culvert.platform.runtimes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.KeyedPace;
import dev.culvert.platform.host.rest.StoreRefusal;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.RuntimeEnds;
import dev.culvert.platform.host.spi.RuntimeKeys;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.runtimes.server.ServerMessage;
import dev.culvert.platform.runtimes.store.AccountTable;
import dev.culvert.platform.runtimes.store.Credential;
import dev.culvert.platform.runtimes.store.EndedRuntime;
import dev.culvert.platform.runtimes.store.RuntimeAccount;
import dev.culvert.platform.runtimes.store.RuntimeSecrets;
import dev.culvert.platform.runtimes.store.RuntimeTable;
import dev.culvert.platform.runtimes.store.ServerState;
import dev.culvert.platform.runtimes.store.StoredRuntime;
import dev.culvert.store.StoreException;
import java.io.UncheckedIOException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Creates, finds and deletes the runtimes of accounts. A change and the message of it to the tunnel server
 * are one transaction; nothing waits for the tunnel server. Errors: HandlerException. Callable from any
 * thread.
 */
final class Runtimes {
    private static final String KIND = "runtime";
    private static final int MAX_RUNTIMES = 10_000;
    /** How often the errors of a runtime change: each change is an event that all of the account read. */
    private static final int REPORTS = 10;
    private static final Duration REPORT_INTERVAL = Duration.ofSeconds(6);
    private static final int STORE_KEY_BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Logger log = LoggerFactory.getLogger(Runtimes.class);
    private static final JsonMapper JSON = new JsonMapper();

    private final Services services;
    private final RuntimesSettings settings;
    private final boolean onPremises;
    private final @Nullable X509Certificate authority;
    private final Clock clock;
    private final RuntimeSecrets secrets;
    private final KeyedPace<String> reports;

    /** What the module gets from others. */
    record Services(Store store, Events events, Outbox outbox, RuntimeKeys keys, RuntimeEnds ends,
            SecretWrapping wrapping) {}

    /**
     * @param onPremises whether the platform has no tunnels
     * @param authority that of the tunnel server; null: there is no tunnel server
     */
    Runtimes(Services services, RuntimesSettings settings, boolean onPremises,
            @Nullable X509Certificate authority, Clock clock) {
        this.services = services;
        this.settings = settings;
        this.onPremises = onPremises;
        this.authority = authority;
        this.clock = clock;
        this.secrets = new RuntimeSecrets(services.wrapping());
        this.reports = new KeyedPace<>(REPORTS, REPORT_INTERVAL, MAX_RUNTIMES, System::nanoTime);
    }

    /**
     * A created runtime.
     *
     * @param token its long-lived token, shown this once; with a tunnel also its client's enrolment token
     */
    record Created(String name, String token) {
        @Override
        public String toString() {
            return name + " ***";
        }
    }

    /** Creates a runtime of an account. */
    Mono<Created> create(String account, InstallationArgs args) {
        if (args.hasTunnel()) {
            requireTunnels();
        }
        String upstream = settings.upstream(account, args.name());
        if (args.managed() && upstream == null) {
            throw HandlerException.of(Reason.CONFLICT,
                    "this platform hosts no runtimes (handlers.runtimes.hosted is not set)");
        }
        return services.wrapping()
                .key()
                .onErrorMap(StoreException.class, StoreRefusal::told)
                .onErrorMap(SecretWrapping.Failed.class, Runtimes::unusable)
                .flatMap(key -> blocking(() -> make(account, args, key)))
                .flatMap(made -> change(account, connection -> create(connection, account, args, made,
                        args.managed() ? upstream : null)));
    }

    /** What was made for a runtime: its token, and its secrets as they are stored. */
    private record Made(@Nullable EnrolmentToken token, @Nullable Credential credential, String storeKey) {}

    private Made make(String account, InstallationArgs args, String key) {
        String storeKey = secrets.wrapStoreKey(account, args.name(), storeKey(), key);
        if (!args.hasTunnel() || authority == null) {
            return new Made(null, null, storeKey);
        }
        EnrolmentToken token = EnrolmentToken.generate(authority);
        var credential = new Credential(token.id(), Base64Url.encode(token.secretHash()),
                clock.instant().getEpochSecond() + settings.enrolmentLife().toSeconds());
        return new Made(token, secrets.wrap(account, args.name(), credential, key), storeKey);
    }

    /** Java reads random bytes from a file, as the keys are. */
    private static <T> Mono<T> blocking(Callable<T> work) {
        return Mono.fromCallable(work)
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(SecretWrapping.Failed.class, Runtimes::unusable);
    }

    private static HandlerException unusable(SecretWrapping.Failed failed) {
        log.atWarn()
                .addKeyValue("reason", failed.getMessage())
                .log("a secret of a runtime can't be wrapped or unwrapped");
        return HandlerException.of(Reason.UNAVAILABLE,
                "the runtime's secrets can't be used; an operator finds the reason in the log");
    }

    private void requireTunnels() {
        if (onPremises) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "accessMode: TUNNEL, which a platform on premises does not have (expected: INGRESS)");
        }
        if (authority == null) {
            throw HandlerException.of(Reason.CONFLICT,
                    "accessMode: TUNNEL, but no tunnel server is known (handlers.runtimes.server is not set)");
        }
    }

    private Created create(Connection change, String account, InstallationArgs args, Made made,
            @Nullable String upstream) throws SQLException {
        RuntimeAccount has = AccountTable.of(change, account);
        requireRoom(change, account, args, has);
        long now = clock.instant().getEpochSecond();
        EnrolmentToken token = made.token;
        boolean isServers = token != null || upstream != null;
        RuntimeTable.add(change,
                new StoredRuntime(account, args.name(), args.clusterUid(), args.managed(), args.accessMode(),
                        args.hasLegacyRoutes(), json(args.document()), "[]", made.storeKey, now,
                        isServers ? ServerState.PENDING : ServerState.NONE, null, now),
                made.credential);
        AccountTable.put(change, account,
                new RuntimeAccount(has.runtimes() + 1, args.managed() ? args.name() : has.hosted(),
                        has.configuration() == null ? args.name() : has.configuration(), has.designated()));
        if (isServers) {
            services.outbox()
                    .add(change, account, args.name(),
                            new ServerMessage.Create(account, args.name(), upstream).text());
        }
        services.events().add(change, account, KIND, args.name());
        if (token == null) {
            return new Created(args.name(), services.keys().create(change, account, args.name()));
        }
        services.keys().add(change, account, args.name(), token.text());
        return new Created(args.name(), token.text());
    }

    private static void requireRoom(Connection change, String account, InstallationArgs args,
            RuntimeAccount has) throws SQLException {
        String name = args.name();
        if (RuntimeTable.find(change, account, name) != null) {
            throw new StoreException.Conflict("the account has a runtime " + name + " already");
        }
        String uid = args.clusterUid();
        String other = uid == null ? null : RuntimeTable.onCluster(change, account, uid);
        if (other != null) {
            throw new StoreException.Conflict("the runtime " + other
                    + " is on that cluster already (expected: one runtime of the account on a cluster)");
        }
        if (args.managed() && has.hosted() != null) {
            throw new StoreException.Conflict("the account has a hosted runtime already: " + has.hosted());
        }
        if (has.runtimes() >= MAX_RUNTIMES) {
            throw new StoreException.Full("the account has its " + MAX_RUNTIMES + " runtimes");
        }
        EndedRuntime ended = AccountTable.ended(change, account, name);
        if (ended != null) {
            throw new StoreException.Conflict(ended.refusal() == null
                    ? "the deleted runtime " + name
                            + " is being deleted at the tunnel server; try again when it is"
                    : kept(name, ended.refusal()));
        }
    }

    private static String kept(String name, String refusal) {
        return "the deleted runtime " + name + " is still at the tunnel server: " + refusal
                + ". Delete it again with force, which deletes them";
    }

    /**
     * Deletes a runtime with all that modules keep for it. Errors, beside the class's: NOT_FOUND.
     *
     * @param hosted whether it must be, or must not be, a hosted one
     * @param force whether webhooks that wait at the tunnel server are deleted, too
     */
    Mono<Void> delete(String account, String name, boolean hosted, boolean force) {
        return change(account, connection -> {
            requireStorable(name);
            StoredRuntime runtime = RuntimeTable.find(connection, account, name);
            EndedRuntime ended = AccountTable.ended(connection, account, name);
            if (runtime == null && force && ended != null) {
                if (!ended.force() || ended.refusal() != null) {
                    end(connection, account, name, true);
                }
                return true;
            }
            if (runtime == null || runtime.managed() != hosted) {
                throw new StoreException.Absent(
                        "there is no " + (hosted ? "hosted " : "") + "runtime " + name);
            }
            RuntimeAccount has = AccountTable.of(connection, account);
            boolean isConfiguration = name.equals(has.configuration());
            AccountTable.put(connection, account, new RuntimeAccount(has.runtimes() - 1,
                    hosted ? null : has.hosted(), isConfiguration ? null : has.configuration(),
                    !isConfiguration && has.designated()));
            services.ends().ended(connection, account, name);
            RuntimeTable.remove(connection, account, name);
            if (isConfiguration) {
                AccountTable.pass(connection, account, RuntimeTable.oldestOwn(connection, account));
            }
            if (runtime.serverState() != ServerState.NONE) {
                end(connection, account, name, force);
            }
            services.events().add(connection, account, KIND, name);
            return true;
        }).then();
    }

    private void end(Connection change, String account, String name, boolean force) throws SQLException {
        AccountTable.end(change,
                new EndedRuntime(account, name, clock.instant().getEpochSecond(), null, force));
        services.outbox().add(change, account, name, new ServerMessage.Delete(account, name, force).text());
    }

    /** Deletes all runtimes of a deleted account at the tunnel server, those that it kept too. Blocks. */
    void accountEnded(Connection change, String account) throws SQLException {
        String after = "";
        List<StoredRuntime> page;
        do {
            page = RuntimeTable.page(change, account, after, 100);
            for (StoredRuntime runtime : page) {
                if (runtime.serverState() != ServerState.NONE) {
                    AccountTable.end(change, new EndedRuntime(account, runtime.name(),
                            clock.instant().getEpochSecond(), null, true));
                }
                after = runtime.name();
            }
        } while (!page.isEmpty());
        after = "";
        List<EndedRuntime> ended;
        do {
            ended = AccountTable.endedOf(change, account, after, 100);
            for (EndedRuntime runtime : ended) {
                endWithAccount(change, account, runtime.name());
                after = runtime.name();
            }
        } while (!ended.isEmpty());
        AccountTable.remove(change, account);
    }

    private void endWithAccount(Connection change, String account, String name) throws SQLException {
        try {
            end(change, account, name, true);
        } catch (StoreException.Full full) {
            log.atDebug()
                    .addKeyValue("runtime", account + "/" + name)
                    .log("the reconciler deletes it at the tunnel server: the outbox has no room");
        }
    }

    /** A runtime of an account. Errors: NOT_FOUND. */
    Mono<StoredRuntime> runtime(String account, String name) {
        return read(connection -> present(connection, account, name));
    }

    /**
     * The key with which a runtime's cluster encrypts its Git tokens. Errors: NOT_FOUND, UNAVAILABLE.
     */
    Mono<String> storeKey(String account, String name) {
        return runtime(account, name)
                .flatMap(found -> blocking(() -> secrets.storeKey(account, name, found.storeKey())));
    }

    /** A runtime, with what its account has. Errors: NOT_FOUND. */
    Mono<Found> found(String account, String name) {
        return read(connection -> new Found(present(connection, account, name),
                AccountTable.of(connection, account)));
    }

    /** A runtime, with what its account has. */
    record Found(StoredRuntime runtime, RuntimeAccount account) {}

    /** What an account has. */
    Mono<RuntimeAccount> account(String account) {
        return read(connection -> AccountTable.of(connection, account));
    }

    /**
     * A page of the runtimes of an account.
     *
     * @param runtimes in the order of names
     * @param more whether there are others beyond it
     */
    record Page(List<StoredRuntime> runtimes, boolean more, RuntimeAccount account) {}

    /** The page of an account after or before a name. Two statements. */
    Mono<Page> page(String account, String from, boolean backwards, int limit) {
        return read(connection -> {
            List<StoredRuntime> found = backwards
                    ? RuntimeTable.pageBefore(connection, account, from, limit + 1)
                    : RuntimeTable.page(connection, account, from, limit + 1);
            boolean more = found.size() > limit;
            return new Page(more ? backwards ? found.subList(1, limit + 1) : found.subList(0, limit) : found,
                    more, AccountTable.of(connection, account));
        });
    }

    /** Makes a runtime the account's configuration runtime. Errors: NOT_FOUND. */
    Mono<Found> designate(String account, String name) {
        return change(account, connection -> {
            StoredRuntime runtime = present(connection, account, name);
            RuntimeAccount before = AccountTable.of(connection, account);
            var after = new RuntimeAccount(before.runtimes(), before.hosted(), name, true);
            AccountTable.put(connection, account, after);
            services.events().add(connection, account, KIND, name);
            return new Found(runtime, after);
        });
    }

    /**
     * Replaces the errors that a runtime reported. The same ones change nothing. Errors: NOT_FOUND,
     * RATE_LIMITED.
     */
    Mono<Void> report(String account, String name, List<Map<String, Object>> errors) {
        String reported = json(errors);
        return runtime(account, name)
                .filter(before -> !before.reported().equals(reported))
                .doOnNext(before -> requirePace(account, name))
                .flatMap(before -> change(account, connection -> {
                    present(connection, account, name);
                    RuntimeTable.report(connection, account, name, reported);
                    services.events().add(connection, account, KIND, name);
                    return true;
                }))
                .then();
    }

    private void requirePace(String account, String name) {
        Duration wait = reports.take(account + "/" + name);
        if (wait != null) {
            throw HandlerException
                    .of(Reason.RATE_LIMITED, "the errors of the runtime " + name
                            + " changed too often (expected: " + REPORTS + " times, then once in "
                            + REPORT_INTERVAL.toSeconds() + " s)")
                    .retryAfter(wait);
        }
    }

    /** Throws Absent for a name that PostgreSQL does not take. */
    private static void requireStorable(String name) {
        if (name.indexOf('\0') >= 0) {
            throw new StoreException.Absent("there is no runtime of that name");
        }
    }

    private static StoredRuntime present(Connection connection, String account, String name)
            throws SQLException {
        requireStorable(name);
        StoredRuntime runtime = RuntimeTable.find(connection, account, name);
        if (runtime == null) {
            EndedRuntime ended = AccountTable.ended(connection, account, name);
            throw new StoreException.Absent("there is no runtime " + name
                    + (ended == null || ended.refusal() == null ? "" : ": " + kept(name, ended.refusal())));
        }
        return runtime;
    }

    private <T> Mono<T> read(Store.Work<T> work) {
        return services.store().read(work).onErrorMap(StoreException.class, StoreRefusal::told);
    }

    private <T> Mono<T> change(String account, Store.Work<T> work) {
        return services.store().change(account, work).onErrorMap(StoreException.class, StoreRefusal::told);
    }

    private static String storeKey() {
        byte[] key = new byte[STORE_KEY_BYTES];
        RANDOM.nextBytes(key);
        return HexFormat.of().formatHex(key);
    }

    private static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("maps of strings always render", e);
        }
    }
}
