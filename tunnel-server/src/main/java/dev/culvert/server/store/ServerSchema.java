package dev.culvert.server.store;

import dev.culvert.store.SqliteSchema;
import java.util.List;

/**
 * The tables of the server's database, by version. A released version is never edited: a later version
 * changes its tables.
 */
final class ServerSchema {
    private static final List<List<String>> VERSIONS = List.of(List.of("""
            CREATE TABLE runtimes (
              id TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT NOT NULL,
              label TEXT NOT NULL UNIQUE, created INTEGER NOT NULL, UNIQUE (account, name)) STRICT""", """
            CREATE TABLE custom_hosts (
              host TEXT PRIMARY KEY, runtime_id TEXT NOT NULL REFERENCES runtimes (id) ON DELETE CASCADE,
              position INTEGER NOT NULL) STRICT""", """
            CREATE TABLE tokens (
              id TEXT PRIMARY KEY, hash BLOB NOT NULL,
              runtime_id TEXT NOT NULL REFERENCES runtimes (id) ON DELETE CASCADE,
              expires INTEGER NOT NULL, used_by BLOB) STRICT""",
            "CREATE INDEX custom_hosts_of_runtime ON custom_hosts (runtime_id)",
            "CREATE INDEX tokens_of_runtime ON tokens (runtime_id)"),
            List.of("ALTER TABLE runtimes ADD COLUMN identity TEXT NOT NULL DEFAULT ''",
                    "UPDATE runtimes SET identity = id",
                    "CREATE UNIQUE INDEX runtimes_by_identity ON runtimes (identity)",
                    "ALTER TABLE tokens ADD COLUMN certificate TEXT"),
            List.of("""
                    CREATE TABLE generations (
                      one INTEGER PRIMARY KEY CHECK (one = 1), ceiling INTEGER NOT NULL) STRICT"""),
            List.of("""
                    CREATE TABLE admin_tokens (
                      name TEXT PRIMARY KEY, role TEXT NOT NULL, hash BLOB NOT NULL, created INTEGER NOT NULL,
                      earlier BLOB, earlier_until INTEGER) STRICT""",
                    """
                            CREATE TABLE audit (
                              seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL,
                              remote TEXT NOT NULL, request_id TEXT NOT NULL, what TEXT NOT NULL, thing TEXT NOT NULL) STRICT"""),
            // Older versions did not store it: most of the existing runtimes had a client.
            List.of("ALTER TABLE runtimes ADD COLUMN connected INTEGER",
                    "UPDATE runtimes SET connected = created"),
            // One row for each own limit, so a new limit needs no new table.
            List.of("""
                    CREATE TABLE runtime_limits (
                      runtime_id TEXT NOT NULL REFERENCES runtimes (id) ON DELETE CASCADE,
                      key TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (runtime_id, key)) STRICT"""),
            List.of("""
                    CREATE TABLE runtime_access (
                      runtime_id TEXT PRIMARY KEY REFERENCES runtimes (id) ON DELETE CASCADE,
                      rules TEXT NOT NULL) STRICT"""),
            List.of("""
                    CREATE TABLE runtime_announcements (
                      runtime_id TEXT PRIMARY KEY REFERENCES runtimes (id) ON DELETE CASCADE,
                      document BLOB NOT NULL) STRICT"""),
            List.of("""
                    CREATE TABLE renewals (
                      runtime_id TEXT NOT NULL REFERENCES runtimes (id) ON DELETE CASCADE,
                      key BLOB NOT NULL, successor BLOB NOT NULL, until INTEGER NOT NULL,
                      PRIMARY KEY (runtime_id, key)) STRICT""",
                    "CREATE INDEX renewals_by_end ON renewals (until)"),
            // Those of hosted runtimes alone.
            List.of("""
                    CREATE TABLE runtime_upstreams (
                      runtime_id TEXT PRIMARY KEY REFERENCES runtimes (id) ON DELETE CASCADE,
                      url TEXT NOT NULL, ca TEXT) STRICT"""),
            // Of those whose creation may be repeated.
            List.of("ALTER TABLE runtimes ADD COLUMN registrar TEXT",
                    "ALTER TABLE runtimes ADD COLUMN request BLOB"));

    static final SqliteSchema SCHEMA = new SqliteSchema(VERSIONS, "runtimes");

    private ServerSchema() {}
}
