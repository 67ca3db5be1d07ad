package dev.culvert.server.store;

import dev.culvert.certs.Sha256;
import dev.culvert.http.fields.HostName;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.server.access.AccessRules;
import dev.culvert.server.runtime.GenerationStore;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeOrigin;
import dev.culvert.server.runtime.RuntimeScope;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.server.runtime.StoredToken;
import dev.culvert.server.token.AdminTokenStore;
import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.StoreException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The runtimes in one SQLite file. All are also in memory: read at start, written through. */
public final class SqliteRuntimeStore implements RuntimeStore {
    /** The file in the data folder. */
    static final String FILE = "culvert.db";
    /** How long expired tokens are kept, so that a late use is refused with the true reason. */
    private static final Duration TOKEN_REMEMBERED = Duration.ofDays(1);

    private final SqliteDatabase database;
    private final RuntimeTable table;
    private final SqliteAdminTokens adminTokens;
    private final LateRevocations late;
    private final Clock clock;

    private SqliteRuntimeStore(SqliteDatabase database, RuntimeTable table, SqliteAdminTokens adminTokens,
            Clock clock) {
        this.adminTokens = adminTokens;
        this.database = database;
        this.table = table;
        this.late = new LateRevocations(database, table);
        this.clock = clock;
    }

    /**
     * Opens or creates the store of a data folder. Errors: {@link StoreException.Held} when another process
     * still holds it after {@link StoreLimits#lockTimeout}; {@link StoreException.Failed}.
     *
     * @param domain the edge's domain, the suffix of the runtimes' hosts
     */
    public static Mono<SqliteRuntimeStore> open(Path dataDir, String domain, StoreLimits limits,
            Clock clock) {
        Path file = dataDir.resolve(FILE);
        return SqliteDatabase.open(file, ServerSchema.SCHEMA, limits.ofDatabase(), clock)
                .flatMap(database -> database
                        .transact(connection -> load(connection, domain, limits), table -> table)
                        .flatMap(table -> SqliteAdminTokens.load(database)
                                .map(tokens -> new SqliteRuntimeStore(database, table, tokens, clock)))
                        .onErrorMap(IllegalArgumentException.class, wrong -> DatabaseProblem.of(file, wrong))
                        .onErrorResume(failed -> database.close().then(Mono.error(failed))));
    }

    /** The generations kept in the same database. */
    public GenerationStore generations() {
        return new SqliteGenerations(database);
    }

    /** The named admin tokens kept in the same database. */
    public AdminTokenStore adminTokens() {
        return adminTokens;
    }

    /** The audit log kept in the same database. */
    public AuditStore audit() {
        return new SqliteAudit(database);
    }

    /** The announcements of runtimes, kept in the same database. Errors: {@link StoreException}. */
    public Mono<AnnouncedRoutes> announcements() {
        return AnnouncedRoutes.load(database);
    }

    /** Whether the callers of any runtime are asked for client certificates. */
    public boolean asksForCertificates() {
        return table.asksForCertificates();
    }

    @Override
    public @Nullable RegisteredRuntime byHost(String authority) {
        return table.byHost(HostName.of(authority));
    }

    @Override
    public @Nullable RegisteredRuntime byId(String runtimeId) {
        return table.byId(runtimeId);
    }

    @Override
    public @Nullable RegisteredRuntime byIdentity(String identity) {
        return table.byIdentity(identity);
    }

    @Override
    public @Nullable RegisteredRuntime byName(RuntimeName name) {
        return table.byName(name);
    }

    @Override
    public List<RegisteredRuntime> runtimes() {
        return table.runtimes();
    }

    @Override
    public List<RegisteredRuntime> runtimes(RuntimeScope scope, @Nullable RuntimeName after, int limit) {
        return table.runtimes(scope, after, limit);
    }

    @Override
    public @Nullable StoredToken token(String tokenId) {
        return table.token(tokenId);
    }

    @Override
    public Mono<RegisteredRuntime> create(RegisteredRuntime runtime, StoredToken first) {
        return database.transact(connection -> {
            RegisteredRuntime before = table.repeated(runtime);
            if (before == null) {
                table.check(runtime);
                table.checkFirst(first);
                insert(connection, runtime);
                insert(connection, first);
            }
            return new Created(runtime, before);
        }, created -> created.orAdd(made -> {
            table.add(made);
            table.put(first);
        }));
    }

    @Override
    public Mono<RegisteredRuntime> create(RegisteredRuntime hosted) {
        RuntimeUpstream upstream = Objects.requireNonNull(hosted.upstream());
        return database.transact(connection -> {
            RegisteredRuntime before = table.repeated(hosted);
            if (before == null) {
                table.check(hosted);
                insert(connection, hosted);
                SqliteRuntimeUpstreams.replace(connection, hosted.id(), upstream);
            }
            return new Created(hosted, before);
        }, created -> created.orAdd(table::add));
    }

    /**
     * A created runtime.
     *
     * @param before what the same call created before; null: this is the first one
     */
    private record Created(RegisteredRuntime runtime, @Nullable RegisteredRuntime before) {
        RegisteredRuntime orAdd(Consumer<RegisteredRuntime> adding) {
            if (before != null) {
                return before;
            }
            adding.accept(runtime);
            return runtime;
        }
    }

    @Override
    public Mono<RegisteredRuntime> replaceUpstream(RuntimeName name, RuntimeUpstream upstream) {
        return database.transact(connection -> {
            RegisteredRuntime before = present(name);
            if (before.upstream() == null) {
                throw new StoreException.Conflict("the runtime " + name
                        + " has a tunnel and no upstream; delete it and create it with one");
            }
            SqliteRuntimeUpstreams.replace(connection, before.id(), upstream);
            return before.withUpstream(upstream);
        }, after -> {
            table.replace(after);
            return after;
        });
    }

    @Override
    public Mono<RegisteredRuntime> delete(RuntimeName name, RuntimeScope scope) {
        return database.transact(connection -> {
            RegisteredRuntime before = present(name, scope);
            RegisteredRuntime held = hold(before, UUID.randomUUID().toString());
            SqliteDatabase.update(connection, "DELETE FROM runtimes WHERE id = ?", held.id());
            return new Gone(before, held);
        }, gone -> {
            table.remove(gone.held);
            return gone.before;
        })
                .onErrorMap(StoreException.Failed.class, failed -> unstored(failed, name
                        + " is disconnected, and its certificates are worthless while this server runs, but it is not deleted: delete it again later"));
    }

    @Override
    public Mono<RegisteredRuntime> revoke(RuntimeName name, String identity) {
        return Mono.deferContextual(context -> {
            AtomicReference<RegisteredRuntime> held = new AtomicReference<>();
            return database.transact(connection -> {
                RegisteredRuntime after = hold(present(name), identity);
                held.set(after);
                late.write(connection, after);
                return after;
            }, after -> after).onErrorMap(StoreException.Failed.class, failed -> {
                RegisteredRuntime after = held.get();
                if (after == null) {
                    return failed;
                }
                late.add(after, context);
                return unstored(failed, name
                        + " is revoked and disconnected while this server runs, but the revocation is not stored yet: it is tried again each second");
            });
        });
    }

    /** A runtime that is being deleted: before, and as held in memory meanwhile. */
    private record Gone(RegisteredRuntime before, RegisteredRuntime held) {}

    /**
     * Revokes a runtime's certificates and tokens in memory, on the database's thread, before anything is
     * written: a full disk must not delay a revocation. Returns the changed runtime.
     */
    private RegisteredRuntime hold(RegisteredRuntime before, String identity) {
        RegisteredRuntime after = before.withIdentity(identity);
        table.revoke(before, after);
        return after;
    }

    private static StoreException.Failed unstored(StoreException.Failed failed, String what) {
        Throwable cause = failed.getCause();
        return new StoreException.Failed(
                what + ". " + (failed.isDiskFull() ? "The disk is full" : failed.getMessage()),
                cause == null ? failed : cause);
    }

    @Override
    public Mono<RegisteredRuntime> replaceHosts(RuntimeName name, List<String> hosts, RuntimeScope scope) {
        return database.transact(connection -> {
            RegisteredRuntime before = present(name, scope);
            RegisteredRuntime after = before.withHosts(hosts);
            table.checkHosts(after);
            SqliteDatabase.update(connection, "DELETE FROM custom_hosts WHERE runtime_id = ?", before.id());
            insertHosts(connection, after);
            return after;
        }, after -> {
            table.replaceHosts(after);
            return after;
        });
    }

    @Override
    public Mono<RegisteredRuntime> replaceLimits(RuntimeName name, OwnLimits limits) {
        return database.transact(connection -> {
            RegisteredRuntime before = present(name);
            SqliteRuntimeLimits.replace(connection, before.id(), limits);
            return before.withLimits(limits);
        }, after -> {
            table.replace(after);
            return after;
        });
    }

    @Override
    public Mono<RegisteredRuntime> replaceAccess(RuntimeName name, AccessRules rules) {
        return database.transact(connection -> {
            RegisteredRuntime before = present(name);
            SqliteRuntimeAccess.replace(connection, before.id(), rules);
            return before.withAccess(rules);
        }, after -> {
            table.replace(after);
            return after;
        });
    }

    @Override
    public Mono<Void> connected(String identity) {
        return Mono.defer(() -> {
            RegisteredRuntime known = table.byIdentity(identity);
            return known == null || known.connected() != null ? Mono.empty() : noteConnected(identity);
        });
    }

    private Mono<Void> noteConnected(String identity) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        return database.transact(connection -> {
            SqliteDatabase.update(connection,
                    "UPDATE runtimes SET connected = ? WHERE identity = ? AND connected IS NULL",
                    now.toEpochMilli(), identity);
            return now;
        }, first -> {
            RegisteredRuntime runtime = table.byIdentity(identity);
            if (runtime != null && runtime.connected() == null) {
                table.replace(runtime.withConnected(first));
            }
            return first;
        }).then();
    }

    @Override
    public Mono<Void> renewed(String runtimeId, Sha256 key, Sha256 successor, Instant until) {
        return database.transact(connection -> {
            SqliteRenewals.note(connection, runtimeId, key, successor, until, clock.instant());
            return until;
        }, noted -> noted).then();
    }

    private RegisteredRuntime present(RuntimeName name) {
        return present(name, RuntimeScope.ALL);
    }

    private RegisteredRuntime present(RuntimeName name, RuntimeScope scope) {
        RegisteredRuntime runtime = table.byName(name);
        if (runtime == null || !scope.covers(runtime)) {
            throw new StoreException.Absent("there is no runtime " + name);
        }
        return runtime;
    }

    @Override
    public Mono<StoredToken> add(StoredToken token) {
        Instant now = clock.instant();
        long forgotten = now.minus(TOKEN_REMEMBERED).toEpochMilli();
        return database.transact(connection -> {
            table.purgeTokens(forgotten);
            SqliteDatabase.update(connection, "DELETE FROM tokens WHERE expires < ?", forgotten);
            table.check(token, now);
            List<StoredToken> spent = table.forgettable(token.runtimeId(), now);
            for (StoredToken one : spent) {
                SqliteDatabase.update(connection, "DELETE FROM tokens WHERE id = ?", one.id());
            }
            insert(connection, token);
            return spent;
        }, spent -> {
            table.forget(spent);
            table.put(token);
            return token;
        });
    }

    @Override
    public Mono<StoredToken> use(String tokenId, Sha256 keyHash, String certificate) {
        return database.transact(connection -> {
            StoredToken token = table.token(tokenId);
            if (token == null) {
                throw new StoreException.Absent("there is no such enrolment token any more");
            }
            if (!token.usableBy(keyHash)) {
                throw new StoreException.Conflict("the enrolment token was used with another key before");
            }
            SqliteDatabase.update(connection, "UPDATE tokens SET used_by = ?, certificate = ? WHERE id = ?",
                    keyHash.bytes(),
                    certificate, tokenId);
            return token.usedBy(keyHash, certificate);
        }, used -> {
            table.put(used);
            return used;
        });
    }

    @Override
    public Mono<Void> release() {
        return database.release().doFinally(done -> late.close());
    }

    /**
     * Notes for the server before this one that this one listens. Completes empty. Errors:
     * {@link StoreException}.
     */
    public Mono<Void> serving() {
        return database.serving();
    }

    /**
     * After {@link #release}: emits true when the next server listens. Emits false at once if none waited for
     * the database, or if it was of a version that leaves no such note; also if none has it for {@code
     * patience}, and after {@code most} at the latest.
     */
    public Mono<Boolean> succeeded(Duration patience, Duration most) {
        return database.succeeded(patience, most);
    }

    @Override
    public boolean isReleased() {
        return database.isReleased();
    }

    @Override
    public Flux<RegisteredRuntime> endedBySuccessor() {
        return SuccessorView.identities(database.file()).concatMapIterable(this::ended);
    }

    private List<RegisteredRuntime> ended(Map<String, String> identities) {
        List<RegisteredRuntime> ended = new ArrayList<>();
        for (RegisteredRuntime runtime : table.runtimes()) {
            String identity = identities.get(runtime.id());
            if (identity == null) {
                table.remove(runtime);
                ended.add(runtime);
            } else if (!identity.equals(runtime.identity())) {
                table.revoke(runtime, runtime.withIdentity(identity));
                ended.add(runtime);
            }
        }
        return ended;
    }

    @Override
    public Mono<Void> lost() {
        return database.lost();
    }

    @Override
    public Mono<Void> close() {
        return database.close().doFinally(done -> late.close());
    }

    private static void insert(Connection connection, RegisteredRuntime runtime) throws SQLException {
        RuntimeName name = runtime.name();
        RuntimeOrigin origin = runtime.origin();
        SqliteDatabase.update(connection,
                "INSERT INTO runtimes (id, identity, account, name, label, created, registrar, request)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                runtime.id(), runtime.identity(), name.account(), name.name(), name.label(),
                runtime.created().toEpochMilli(), origin == null ? null : origin.registrar(),
                origin == null ? null : origin.request().bytes());
        insertHosts(connection, runtime);
    }

    private static void insertHosts(Connection connection, RegisteredRuntime runtime) throws SQLException {
        for (int i = 0; i < runtime.hosts().size(); i++) {
            SqliteDatabase.update(connection,
                    "INSERT INTO custom_hosts (host, runtime_id, position) VALUES (?, ?, ?)",
                    runtime.hosts().get(i), runtime.id(), i);
        }
    }

    private static void insert(Connection connection, StoredToken token) throws SQLException {
        SqliteDatabase.update(connection,
                "INSERT INTO tokens (id, hash, runtime_id, expires) VALUES (?, ?, ?, ?)",
                token.id(), token.hash().bytes(), token.runtimeId(), token.expires().toEpochMilli());
    }

    /** Reads everything, in the caller's transaction. */
    static RuntimeTable load(Connection connection, String domain, StoreLimits limits)
            throws SQLException {
        var table = new RuntimeTable(limits);
        Map<String, List<String>> hosts = customHosts(connection);
        Map<String, OwnLimits> ownLimits = SqliteRuntimeLimits.load(connection);
        Map<String, AccessRules> access = SqliteRuntimeAccess.load(connection);
        Map<String, RuntimeUpstream> upstreams = SqliteRuntimeUpstreams.load(connection);
        try (var statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery(
                                "SELECT id, identity, account, name, created, connected, registrar, request"
                                        + " FROM runtimes ORDER BY created, id")) {
            while (row.next()) {
                var name = new RuntimeName(row.getString("account"), row.getString("name"));
                String id = row.getString("id");
                long connected = row.getLong("connected"); // 0 for NULL
                table.add(new RegisteredRuntime(id, row.getString("identity"), name,
                        name.label() + '.' + domain,
                        hosts.getOrDefault(id, List.of()), Instant.ofEpochMilli(row.getLong("created")),
                        connected == 0 ? null : Instant.ofEpochMilli(connected),
                        ownLimits.getOrDefault(id, OwnLimits.NONE),
                        access.getOrDefault(id, AccessRules.NONE), upstreams.get(id), origin(row)));
            }
        }
        try (var statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery(
                                "SELECT id, hash, runtime_id, expires, used_by, certificate FROM tokens")) {
            while (row.next()) {
                byte[] usedBy = row.getBytes("used_by");
                table.put(new StoredToken(row.getString("id"), Sha256.from(row.getBytes("hash")),
                        row.getString("runtime_id"), Instant.ofEpochMilli(row.getLong("expires")),
                        usedBy == null ? null : Sha256.from(usedBy), row.getString("certificate")));
            }
        }
        return table;
    }

    private static @Nullable RuntimeOrigin origin(ResultSet row) throws SQLException {
        byte[] request = row.getBytes("request");
        return request == null ? null : new RuntimeOrigin(row.getString("registrar"), Sha256.from(request));
    }

    private static Map<String, List<String>> customHosts(Connection connection) throws SQLException {
        Map<String, List<String>> hosts = new HashMap<>();
        try (var statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery("SELECT host, runtime_id FROM custom_hosts ORDER BY position")) {
            while (row.next()) {
                hosts.computeIfAbsent(row.getString("runtime_id"), id -> new ArrayList<>())
                        .add(row.getString("host"));
            }
        }
        return hosts;
    }
}
