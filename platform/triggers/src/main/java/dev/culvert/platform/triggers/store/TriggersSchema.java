package dev.culvert.platform.triggers.store;

import dev.culvert.platform.host.spi.TableVersions;
import java.util.ArrayList;
import java.util.List;

/**
 * The module's tables, by version. A released version is never edited. Texts that lists are in the order of
 * have the order of their bytes on both engines.
 */
public final class TriggersSchema {
    private static final List<String> INDEXES = List.of(
            "CREATE INDEX triggers_event_of_account ON triggers_event (account, uri)",
            "CREATE INDEX triggers_trigger_of_pipeline ON triggers_trigger (account, pipeline, event)",
            "CREATE INDEX triggers_delivery_by_place ON triggers_delivery (account, place)",
            "CREATE INDEX triggers_run_by_place ON triggers_run (account, place)",
            "CREATE INDEX triggers_run_of_event ON triggers_run (account, event, id)",
            "CREATE INDEX triggers_run_of_pipeline ON triggers_run (account, pipeline, id)",
            "CREATE INDEX triggers_refusal_by_place ON triggers_refusal (account, place)",
            "CREATE INDEX triggers_clock_due ON triggers_clock (due)");

    /** The statements of each version, for each engine. */
    public static final TableVersions VERSIONS = new TableVersions(
            List.of(tables("TEXT", "INTEGER", " STRICT")),
            List.of(tables("TEXT COLLATE \"C\"", "BIGINT", "")));

    private TriggersSchema() {}

    /**
     * @param text the type of texts
     * @param number the type of numbers
     * @param end what a table ends with
     */
    private static List<String> tables(String text, String number, String end) {
        List<String> tables = new ArrayList<>(List.of("""
                CREATE TABLE triggers_event (
                  uri %1$s PRIMARY KEY, account %1$s NOT NULL, type %1$s NOT NULL, kind %1$s NOT NULL,
                  details %1$s NOT NULL, secret %1$s NOT NULL, created %2$s NOT NULL)%3$s""", """
                CREATE TABLE triggers_trigger (
                  account %1$s NOT NULL, event %1$s NOT NULL, pipeline %1$s NOT NULL, filters %1$s NOT NULL,
                  created %2$s NOT NULL, PRIMARY KEY (account, event, pipeline))%3$s""", """
                CREATE TABLE triggers_delivery (
                  account %1$s NOT NULL, event %1$s NOT NULL, delivery %1$s NOT NULL, place %2$s NOT NULL,
                  created %2$s NOT NULL, PRIMARY KEY (account, event, delivery))%3$s""", """
                CREATE TABLE triggers_run (
                  account %1$s NOT NULL, id %1$s NOT NULL, event %1$s NOT NULL, delivery %1$s NOT NULL,
                  pipeline %1$s NOT NULL, variables %1$s NOT NULL, state %1$s NOT NULL, build %1$s, why %1$s,
                  place %2$s NOT NULL, created %2$s NOT NULL, PRIMARY KEY (account, id),
                  UNIQUE (account, event, delivery, pipeline))%3$s""", """
                CREATE TABLE triggers_refusal (
                  account %1$s NOT NULL, id %1$s NOT NULL, event %1$s NOT NULL, delivery %1$s NOT NULL,
                  why %1$s NOT NULL, place %2$s NOT NULL, created %2$s NOT NULL,
                  PRIMARY KEY (account, id))%3$s""", """
                CREATE TABLE triggers_clock (
                  event %1$s PRIMARY KEY, account %1$s NOT NULL, due %2$s NOT NULL)%3$s""")
                .stream()
                .map(table -> table.formatted(text, number, end))
                .toList());
        tables.addAll(INDEXES);
        return tables;
    }
}
