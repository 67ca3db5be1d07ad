package dev.culvert.platform.host.spi;

import java.util.List;

/**
 * The statements that create a module's tables, for each engine. For each version those that change the
 * tables of the version before. A released version is never edited; both engines have a new one when one of
 * them needs it, which may be empty. Names of tables and indexes begin with the module's name.
 *
 * <p>SQLite's tables are {@code STRICT}. PostgreSQL's begin with version 1 as they are now, whatever
 * SQLite's number. The statements that <em>use</em> the tables are the same for both: times and numbers are
 * {@code BIGINT} there and {@code INTEGER} here, flags 0 and 1, bytes {@code BYTEA} and {@code BLOB}; names
 * that are words of SQL are quoted ({@code "user"}); {@code INSERT … ON CONFLICT} in place of {@code INSERT
 * OR}; no {@code rowid}, no empty {@code IN ()}, subqueries in {@code FROM} have a name.
 *
 * @param sqlite by version, version 1 from no tables
 * @param postgres by version, version 1 from no tables
 */
public record TableVersions(List<List<String>> sqlite, List<List<String>> postgres) {
    public TableVersions {
        sqlite = sqlite.stream().map(List::copyOf).toList();
        postgres = postgres.stream().map(List::copyOf).toList();
    }

    /** A module without tables. */
    public static TableVersions none() {
        return new TableVersions(List.of(), List.of());
    }
}
