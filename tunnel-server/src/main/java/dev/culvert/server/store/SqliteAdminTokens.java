package dev.culvert.server.store;

import dev.culvert.admin.AdminRole;
import dev.culvert.certs.Sha256;
import dev.culvert.server.token.AdminTokenStore;
import dev.culvert.server.token.NamedToken;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The named admin tokens in the server's database, all of them also in memory. */
final class SqliteAdminTokens implements AdminTokenStore {
    private final SqliteDatabase database;
    /** Changed only by the database's thread. */
    private final ConcurrentSkipListMap<String, NamedToken> tokens;

    private SqliteAdminTokens(SqliteDatabase database, ConcurrentSkipListMap<String, NamedToken> tokens) {
        this.database = database;
        this.tokens = tokens;
    }

    /** Reads all tokens. Errors: {@link StoreException}. */
    static Mono<SqliteAdminTokens> load(SqliteDatabase database) {
        return database.transact(SqliteAdminTokens::read, read -> new SqliteAdminTokens(database, read));
    }

    @Override
    public @Nullable NamedToken adminToken(String name) {
        return tokens.get(name);
    }

    @Override
    public List<NamedToken> adminTokens() {
        return List.copyOf(tokens.values());
    }

    @Override
    public Mono<NamedToken> createAdminToken(NamedToken token) {
        return database.transact(connection -> {
            if (tokens.containsKey(token.name())) {
                throw new StoreException.Conflict("the admin token " + token.name() + " exists already");
            }
            if (tokens.size() >= MAX_TOKENS) {
                throw new StoreException.Full(
                        "there are " + MAX_TOKENS + " admin tokens already; delete one first");
            }
            write(connection, token);
            return token;
        }, this::put);
    }

    @Override
    public Mono<NamedToken> replaceAdminToken(String name, UnaryOperator<NamedToken> change) {
        return database.transact(connection -> {
            NamedToken token = change.apply(present(name));
            write(connection, token);
            return token;
        }, this::put);
    }

    @Override
    public Mono<NamedToken> deleteAdminToken(String name) {
        return database.transact(connection -> {
            NamedToken token = present(name);
            SqliteDatabase.update(connection, "DELETE FROM admin_tokens WHERE name = ?", name);
            return token;
        }, gone -> {
            tokens.remove(name);
            return gone;
        });
    }

    private NamedToken put(NamedToken token) {
        tokens.put(token.name(), token);
        return token;
    }

    private NamedToken present(String name) {
        NamedToken token = tokens.get(name);
        if (token == null) {
            throw new StoreException.Absent("there is no such admin token");
        }
        return token;
    }

    private static void write(Connection connection, NamedToken token) throws SQLException {
        Sha256 earlier = token.earlier();
        Instant until = token.earlierUntil();
        SqliteDatabase.update(connection, "INSERT OR REPLACE INTO admin_tokens VALUES (?, ?, ?, ?, ?, ?)",
                token.name(),
                token.role().word(), token.hash().bytes(), token.created().toEpochMilli(),
                earlier == null ? null : earlier.bytes(), until == null ? null : until.toEpochMilli());
    }

    private static ConcurrentSkipListMap<String, NamedToken> read(Connection connection) throws SQLException {
        var read = new ConcurrentSkipListMap<String, NamedToken>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT name, role, hash, created, earlier, earlier_until FROM admin_tokens")) {
            while (row.next()) {
                AdminRole role = AdminRole.of(row.getString("role"));
                if (role == null) {
                    throw new SQLException(
                            "it holds an admin token of an unknown role (expected: read, operate, admin,"
                                    + " registrar)");
                }
                byte[] earlier = row.getBytes("earlier");
                NamedToken token = new NamedToken(row.getString("name"), role,
                        Sha256.from(row.getBytes("hash")),
                        Instant.ofEpochMilli(row.getLong("created")),
                        earlier == null ? null : Sha256.from(earlier),
                        earlier == null ? null : Instant.ofEpochMilli(row.getLong("earlier_until")));
                read.put(token.name(), token);
            }
        }
        return read;
    }
}
