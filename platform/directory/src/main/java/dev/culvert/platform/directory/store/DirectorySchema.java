package dev.culvert.platform.directory.store;

import dev.culvert.platform.host.spi.TableVersions;
import java.util.List;

/**
 * The directory's tables, by version. A released version is never edited: a later version changes its tables.
 */
public final class DirectorySchema {
    private static final List<List<String>> SQLITE = List.of(List.of("""
            CREATE TABLE accounts (
              id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT""", """
            CREATE TABLE users (
              id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
              name TEXT NOT NULL, email TEXT NOT NULL, admin INTEGER NOT NULL, operator INTEGER NOT NULL,
              UNIQUE (account, email)) STRICT""",
            """
                    CREATE TABLE api_keys (
                      id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                      user TEXT REFERENCES users (id) ON DELETE CASCADE, runtime TEXT, name TEXT NOT NULL,
                      created INTEGER NOT NULL, hash BLOB NOT NULL, CHECK ((user IS NULL) <> (runtime IS NULL))) STRICT""",
            """
                    CREATE TABLE runtimes (
                      account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, name TEXT NOT NULL,
                      url TEXT NOT NULL, PRIMARY KEY (account, name)) STRICT""",
            """
                    CREATE TABLE teams (
                      id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                      name TEXT NOT NULL, UNIQUE (account, name)) STRICT""",
            """
                    CREATE TABLE team_members (
                      team TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
                      user TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE, PRIMARY KEY (team, user)) STRICT""",
            """
                    CREATE TABLE rules (
                      id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                      entity TEXT NOT NULL, document TEXT NOT NULL) STRICT""",
            """
                    CREATE TABLE changes (
                      seq INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, what TEXT NOT NULL, user TEXT) STRICT""",
            "CREATE INDEX users_of_account ON users (account)",
            "CREATE INDEX keys_of_account ON api_keys (account)",
            "CREATE INDEX keys_of_user ON api_keys (user)",
            "CREATE INDEX teams_of_user ON team_members (user)",
            "CREATE INDEX rules_of_entity ON rules (account, entity)",
            "CREATE INDEX changes_of_account ON changes (account, seq)"),
            List.of("ALTER TABLE api_keys ADD COLUMN expires INTEGER",
                    "ALTER TABLE api_keys ADD COLUMN last_used INTEGER",
                    "ALTER TABLE runtimes ADD COLUMN changed INTEGER NOT NULL DEFAULT 0",
                    "CREATE TABLE token_secret (only INTEGER PRIMARY KEY CHECK (only = 1), secret BLOB NOT NULL) STRICT",
                    """
                            DELETE FROM runtimes WHERE NOT EXISTS (SELECT 1 FROM api_keys k
                              WHERE k.account = runtimes.account AND k.runtime = runtimes.name)"""),
            List.of("DROP TABLE changes"), // now events of the platform
            // Backups hold the secret that was here in clear, so it is not taken over.
            List.of("DROP TABLE token_secret",
                    """
                            CREATE TABLE token_keys (
                              kid TEXT PRIMARY KEY, generation INTEGER NOT NULL UNIQUE, wrapped TEXT NOT NULL,
                              wrapped_by TEXT NOT NULL, created INTEGER NOT NULL, signs_from INTEGER NOT NULL) STRICT"""));

    private static final List<List<String>> POSTGRES = List.of(List.of(
            "CREATE TABLE accounts (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
            """
                    CREATE TABLE users (
                      id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                      name TEXT NOT NULL, email TEXT NOT NULL, admin INTEGER NOT NULL, operator INTEGER NOT NULL,
                      UNIQUE (account, email))""",
            """
                    CREATE TABLE api_keys (
                      id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                      "user" TEXT REFERENCES users (id) ON DELETE CASCADE, runtime TEXT, name TEXT NOT NULL,
                      created BIGINT NOT NULL, hash BYTEA NOT NULL, expires BIGINT, last_used BIGINT,
                      CHECK (("user" IS NULL) <> (runtime IS NULL)))""",
            """
                    CREATE TABLE runtimes (
                      account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, name TEXT NOT NULL,
                      url TEXT NOT NULL, changed BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (account, name))""",
            """
                    CREATE TABLE teams (
                      id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                      name TEXT NOT NULL, UNIQUE (account, name))""",
            """
                    CREATE TABLE team_members (
                      team TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
                      "user" TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE, PRIMARY KEY (team, "user"))""",
            """
                    CREATE TABLE rules (
                      id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                      entity TEXT NOT NULL, document TEXT NOT NULL)""",
            """
                    CREATE TABLE token_keys (
                      kid TEXT PRIMARY KEY, generation BIGINT NOT NULL UNIQUE, wrapped TEXT NOT NULL,
                      wrapped_by TEXT NOT NULL, created BIGINT NOT NULL, signs_from BIGINT NOT NULL)""",
            "CREATE INDEX keys_of_account ON api_keys (account)",
            "CREATE INDEX keys_of_user ON api_keys (\"user\")",
            "CREATE INDEX teams_of_user ON team_members (\"user\")",
            "CREATE INDEX rules_of_entity ON rules (account, entity)"));

    /** The statements of each version, for each engine. */
    public static final TableVersions VERSIONS = new TableVersions(SQLITE, POSTGRES);

    private DirectorySchema() {}
}
