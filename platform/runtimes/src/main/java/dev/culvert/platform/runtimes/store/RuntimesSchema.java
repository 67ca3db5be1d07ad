package dev.culvert.platform.runtimes.store;

import dev.culvert.platform.host.spi.TableVersions;
import java.util.List;

/**
 * The module's tables, by version. A released version is never edited: a later version changes its tables.
 * Names are in the order of their bytes on both engines, whatever the language of the database.
 */
public final class RuntimesSchema {
    private static final String BY_CLUSTER = "CREATE UNIQUE INDEX runtimes_by_cluster ON runtimes_runtimes (account, cluster_uid)";
    private static final String BY_CREDENTIAL_END = "CREATE INDEX runtimes_by_credential_end ON runtimes_runtimes (credential_end)";
    private static final String FORCED = "ALTER TABLE runtimes_ended ADD COLUMN forced INTEGER NOT NULL DEFAULT 0";

    private static final List<List<String>> SQLITE = List.of(List.of("""
            CREATE TABLE runtimes_runtimes (
              account TEXT NOT NULL, name TEXT NOT NULL, cluster_uid TEXT, managed INTEGER NOT NULL,
              access_mode TEXT NOT NULL, legacy_routes INTEGER NOT NULL, document TEXT NOT NULL,
              reported TEXT NOT NULL, store_key TEXT NOT NULL, created INTEGER NOT NULL,
              server_state TEXT NOT NULL, server_detail TEXT, server_since INTEGER NOT NULL,
              credential TEXT, credential_end INTEGER, PRIMARY KEY (account, name)) STRICT""",
            BY_CLUSTER, BY_CREDENTIAL_END, """
                    CREATE TABLE runtimes_accounts (
                      account TEXT PRIMARY KEY, runtimes INTEGER NOT NULL, hosted TEXT, configuration TEXT,
                      designated INTEGER NOT NULL) STRICT""", """
                    CREATE TABLE runtimes_ended (
                      account TEXT NOT NULL, name TEXT NOT NULL, since INTEGER NOT NULL, refusal TEXT,
                      PRIMARY KEY (account, name)) STRICT"""),
            List.of("""
                    CREATE TABLE runtimes_settings (
                      account TEXT PRIMARY KEY, git_provider TEXT, git_api_url TEXT, shared_config_repo TEXT) STRICT"""),
            List.of(FORCED));

    private static final List<List<String>> POSTGRES = List.of(List.of("""
            CREATE TABLE runtimes_runtimes (
              account TEXT NOT NULL, name TEXT NOT NULL, cluster_uid TEXT, managed INTEGER NOT NULL,
              access_mode TEXT NOT NULL, legacy_routes INTEGER NOT NULL, document TEXT NOT NULL,
              reported TEXT NOT NULL, store_key TEXT NOT NULL, created BIGINT NOT NULL,
              server_state TEXT NOT NULL, server_detail TEXT, server_since BIGINT NOT NULL,
              credential TEXT, credential_end BIGINT, PRIMARY KEY (account, name))""",
            BY_CLUSTER, BY_CREDENTIAL_END, """
                    CREATE TABLE runtimes_accounts (
                      account TEXT PRIMARY KEY, runtimes BIGINT NOT NULL, hosted TEXT, configuration TEXT,
                      designated INTEGER NOT NULL)""", """
                    CREATE TABLE runtimes_ended (
                      account TEXT NOT NULL, name TEXT NOT NULL, since BIGINT NOT NULL, refusal TEXT,
                      PRIMARY KEY (account, name))"""),
            List.of("""
                    CREATE TABLE runtimes_settings (
                      account TEXT PRIMARY KEY, git_provider TEXT, git_api_url TEXT, shared_config_repo TEXT)"""),
            List.of(FORCED, inBytes("runtimes_runtimes"), inBytes("runtimes_ended")));

    /** The statements of each version, for each engine. */
    public static final TableVersions VERSIONS = new TableVersions(SQLITE, POSTGRES);

    private RuntimesSchema() {}

    /** Sets the order of a table's names in PostgreSQL to that of SQLite. */
    private static String inBytes(String table) {
        return "ALTER TABLE " + table + " ALTER COLUMN account TYPE TEXT COLLATE \"C\","
                + " ALTER COLUMN name TYPE TEXT COLLATE \"C\"";
    }
}
