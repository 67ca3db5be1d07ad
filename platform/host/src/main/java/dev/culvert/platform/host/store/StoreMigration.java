package dev.culvert.platform.host.store;

import dev.culvert.store.Database;
import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.DatabaseSchema;
import dev.culvert.store.LockScope;
import dev.culvert.store.Rows;
import dev.culvert.store.SqliteCopy;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLimits;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Copies the content of a SQLite file to an empty database on a server, in one transaction: all of it, or
 * nothing. The file keeps its content; its lease is held meanwhile, so no control plane changes it. A second
 * run finds the same content there and changes nothing.
 */
public final class StoreMigration {
    private static final SqliteLimits LIMITS = new SqliteLimits(10, Duration.ofSeconds(5));
    /** Makes no tables: the file stays as it is. */
    private static final DatabaseSchema NONE = connection -> {};
    /** Of the engines, not of modules. */
    private static final Set<String> OWN_OF_ENGINES = Set.of("schema_version", "lease", "lease_notes",
            "platform_versions", "platform_feed", "platform_turns");

    private StoreMigration() {}

    /**
     * What was copied.
     *
     * @param rows the rows of each table
     * @param isRepeated whether all was there already
     * @param left tables of modules that are not served, which stay in the file alone
     */
    public record Report(Map<String, Long> rows, boolean isRepeated, List<String> left) {
        public Report {
            rows = new LinkedHashMap<>(rows);
            left = List.copyOf(left);
        }

        /** What happened, for operators. */
        public List<String> lines() {
            List<String> lines = new ArrayList<>();
            rows.forEach((table, number) -> lines.add(table + ": " + number + " rows"));
            left.forEach(table -> lines.add(table + ": not copied, as its module is not on the class path"));
            lines.add(isRepeated
                    ? "all was there already, and is the same"
                    : "copied and compared; now set store.kind to postgres in control-plane.yaml");
            return lines;
        }
    }

    /**
     * Copies {@code file} to the database that {@code target} opens with the tables of all modules. Errors:
     * {@link StoreException}: Held while a control plane has the file; Conflict if the target has other
     * content; those of the target.
     */
    public static Mono<Report> run(Path file, ModuleTables tables, Supplier<Mono<Database>> target) {
        if (!Files.exists(file)) {
            return Mono.error(new StoreException.Absent(
                    file + " is not there (expected: the dataDir of a control plane that has run)"));
        }
        return Mono.usingWhen(SqliteDatabase.open(file, NONE, LIMITS, Clock.systemUTC()),
                held -> Mono.usingWhen(copy(file, tables),
                        copy -> Mono.usingWhen(Mono.defer(target), to -> run(copy, to), Database::close),
                        StoreMigration::delete),
                SqliteDatabase::close);
    }

    /** A copy of the file with tables of the newest versions. */
    private static Mono<Path> copy(Path file, ModuleTables tables) {
        return Mono.fromCallable(() -> {
            Path part = SqliteCopy.temporary(file.toAbsolutePath().getParent());
            try {
                SqliteCopy.into(part, file);
                try (Connection connection = SqliteDatabase.connect(part)) {
                    SqliteDatabase.transaction(connection, own -> {
                        tables.migrate(own);
                        return true;
                    });
                }
                return part;
            } catch (SQLException | RuntimeException failed) {
                SqliteCopy.deleteAll(part);
                throw failed;
            }
        })
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed))
                .onErrorMap(IOException.class, failed -> DatabaseProblem.of(file, failed));
    }

    private static Mono<Void> delete(Path copy) {
        return Mono.<Void>fromCallable(() -> {
            SqliteCopy.deleteAll(copy);
            return null;
        }).subscribeOn(Schedulers.boundedElastic());
    }

    private static Mono<Report> run(Path copy, Database to) {
        return to.transact(LockScope.ALL, target -> {
            try (Connection source = SqliteDatabase.connect(copy)) {
                return copy(source, target);
            }
        }, report -> report);
    }

    private static Report copy(Connection source, Connection target) throws SQLException {
        List<String> tables = byReferences(target);
        Map<String, TableContent> wanted = new LinkedHashMap<>();
        Map<String, TableContent> present = new LinkedHashMap<>();
        for (String table : tables) {
            List<String> columns = columns(source, target, table);
            wanted.put(table, TableContent.of(source, table, columns));
            present.put(table, TableContent.of(target, table, columns));
        }
        List<String> left = new ArrayList<>(tablesOf(source));
        left.removeAll(tables);
        boolean isEmpty = present.values().stream().allMatch(content -> content.rows() == 0);
        if (isEmpty) {
            for (String table : tables) {
                TableContent.copy(source, target, table, columns(source, target, table));
            }
            for (String table : tables) {
                TableContent copied = TableContent.of(target, table, columns(source, target, table));
                requireSame(table, wanted.get(table), copied);
            }
            numbers(source, target);
        } else {
            for (String table : tables) {
                requireSame(table, wanted.get(table), present.get(table));
            }
        }
        Map<String, Long> rows = new LinkedHashMap<>();
        wanted.forEach((table, content) -> rows.put(table, content.rows()));
        return new Report(rows, !isEmpty, left);
    }

    private static void requireSame(String table, @Nullable TableContent wanted,
            @Nullable TableContent found) {
        if (wanted == null || !wanted.equals(found)) {
            throw new StoreException.Conflict(
                    "the table " + table + " of the target has other content than the"
                            + " file: " + (found == null ? 0 : found.rows()) + " rows in place of "
                            + (wanted == null ? 0 : wanted.rows())
                            + " (expected: an empty database, or one that this file was copied to)");
        }
    }

    /** Goes on with the numbers of events and messages where the file ends. */
    private static void numbers(Connection source, Connection target) throws SQLException {
        long last = Rows.count(source,
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'platform_events'");
        Rows.update(target, "UPDATE platform_feed SET last = ?", last);
        List<List<String>> identities = Rows.list(target,
                row -> List.of(row.getString(1), row.getString(2)),
                "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema ="
                        + " current_schema() AND is_identity = 'YES' ORDER BY table_name");
        for (List<String> identity : identities) {
            String table = identity.getFirst();
            long highest = Math.max(
                    Rows.count(source, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?",
                            table),
                    Rows.count(target, "SELECT coalesce(max(" + TableContent.quoted(identity.getLast())
                            + "), 0) FROM " + TableContent.quoted(table)));
            Rows.count(target, "SELECT setval(pg_get_serial_sequence(?, ?), ?, ?)", table, identity.getLast(),
                    Math.max(1, highest), highest > 0);
        }
    }

    /** The columns of a table, which both have. */
    private static List<String> columns(Connection source, Connection target, String table)
            throws SQLException {
        List<String> there = Rows.list(target, row -> row.getString(1),
                "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND"
                        + " table_name = ? ORDER BY ordinal_position",
                table);
        List<String> here = Rows.list(source, row -> row.getString(1),
                "SELECT name FROM pragma_table_info(?)",
                table);
        if (!there.containsAll(here)) {
            throw new SQLException("the table " + table + " of the target lacks a column of the file's");
        }
        return there.stream().filter(here::contains).toList();
    }

    private static List<String> tablesOf(Connection source) throws SQLException {
        return Rows
                .list(source, row -> row.getString(1), "SELECT name FROM sqlite_schema WHERE type = 'table'"
                        + " AND name NOT LIKE 'sqlite%' ORDER BY name")
                .stream()
                .filter(table -> !OWN_OF_ENGINES.contains(table))
                .toList();
    }

    /** The tables of the target, those before the ones that refer to them. */
    private static List<String> byReferences(Connection target) throws SQLException {
        List<String> left = new ArrayList<>(Rows.list(target, row -> row.getString(1),
                "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT LIKE"
                        + " '%\\_versions' ORDER BY tablename"));
        left.removeAll(OWN_OF_ENGINES);
        List<List<String>> references = Rows.list(target, row -> List.of(row.getString(1), row.getString(2)),
                "SELECT f.relname, t.relname FROM pg_constraint c JOIN pg_class f ON f.oid = c.conrelid JOIN"
                        + " pg_class t ON t.oid = c.confrelid WHERE c.contype = 'f' AND f.oid <> t.oid");
        Set<String> ordered = new LinkedHashSet<>();
        while (!left.isEmpty()) {
            List<String> free = left.stream()
                    .filter(table -> references.stream()
                            .noneMatch(
                                    each -> each.getFirst().equals(table) && left.contains(each.getLast())))
                    .toList();
            if (free.isEmpty()) {
                throw new SQLException("the tables " + left + " refer to each other");
            }
            ordered.addAll(free);
            left.removeAll(free);
        }
        return List.copyOf(ordered);
    }
}
