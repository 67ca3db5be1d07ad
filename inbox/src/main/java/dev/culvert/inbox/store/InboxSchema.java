package dev.culvert.inbox.store;

import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.store.SqliteSchema;
import java.util.List;

/** The inbox's tables, by version. Never edit a released version. */
final class InboxSchema {
    /**
     * Content has its own table: a row changes with each attempt, and SQLite would rewrite the body with it.
     * Rows with {@code aside} wait for a time of their own; the others wait in their source's queue.
     * {@code begun} counts attempts that may have been sent; {@code unsent} is 1 while the last of them was
     * not. {@code refused} counts those that were refused before they were sent.
     */
    private static final List<List<String>> VERSIONS = List.of(List.of(
            """
                    CREATE TABLE webhooks (
                      seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, runtime TEXT NOT NULL, source TEXT NOT NULL,
                      ordered INTEGER NOT NULL, method TEXT NOT NULL, authority TEXT NOT NULL, target TEXT NOT NULL,
                      size INTEGER NOT NULL, cost INTEGER NOT NULL, provider TEXT, dedupe BLOB, state INTEGER NOT NULL,
                      begun INTEGER NOT NULL, failures INTEGER NOT NULL, next INTEGER NOT NULL, aside INTEGER NOT NULL,
                      outcome TEXT NOT NULL, stored INTEGER NOT NULL, ended INTEGER, content INTEGER NOT NULL,
                      spool TEXT, answer BLOB) STRICT""",
            """
                    CREATE TABLE contents (
                      seq INTEGER PRIMARY KEY, fields BLOB NOT NULL, body BLOB, hash BLOB NOT NULL) STRICT""",
            """
                    CREATE TABLE usage (
                      runtime TEXT NOT NULL, source TEXT NOT NULL, state INTEGER NOT NULL, entries INTEGER NOT NULL,
                      bytes INTEGER NOT NULL, PRIMARY KEY (runtime, source, state)) STRICT, WITHOUT ROWID""",
            """
                    CREATE TABLE paused (
                      runtime TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (runtime, source)) STRICT, WITHOUT ROWID""",
            "CREATE TABLE sequence (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) STRICT",
            "INSERT INTO sequence VALUES (1, 0)",
            "CREATE INDEX webhooks_in_line ON webhooks (runtime, source, seq) WHERE state = 0 AND aside = 0",
            "CREATE INDEX webhooks_aside ON webhooks (runtime, source, next) WHERE state = 0 AND aside = 1",
            "CREATE INDEX webhooks_by_state ON webhooks (state, seq)",
            "CREATE INDEX webhooks_with_content ON webhooks (seq) WHERE state = 1 AND content = 1",
            "CREATE INDEX webhooks_of_runtime ON webhooks (runtime, seq)",
            "CREATE INDEX webhooks_spooled ON webhooks (spool) WHERE spool IS NOT NULL",
            "CREATE INDEX webhooks_by_dedupe ON webhooks (dedupe) WHERE dedupe IS NOT NULL"),
            List.of("CREATE INDEX webhooks_by_end ON webhooks (state, ended) WHERE ended IS NOT NULL",
                    "CREATE INDEX webhooks_dead ON webhooks (runtime, ended) WHERE state = 2",
                    "CREATE INDEX webhooks_dead_of_source ON webhooks (runtime, source, ended) WHERE state = 2"),
            // Adds sources that accepted, indexes for operators' filters and for the oldest of each runtime,
            // and counts answers.
            List.of("""
                    CREATE TABLE sources (
                      runtime TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (runtime, source)) STRICT, WITHOUT ROWID""",
                    "INSERT OR IGNORE INTO sources SELECT DISTINCT runtime, source FROM webhooks WHERE state = 1",
                    "DROP INDEX webhooks_of_runtime",
                    "CREATE INDEX webhooks_of_runtime ON webhooks (runtime, state, seq)",
                    "CREATE INDEX webhooks_of_source ON webhooks (runtime, source, state, seq)",
                    "DROP INDEX webhooks_with_content",
                    "CREATE INDEX webhooks_with_content ON webhooks (runtime, seq) WHERE state = 1 AND content = 1",
                    "CREATE INDEX webhooks_with_answer ON webhooks (runtime, seq) WHERE state = 1 AND answer IS NOT NULL",
                    "CREATE INDEX usage_of_runtimes ON usage (state, runtime) WHERE source = ''",
                    "UPDATE webhooks SET answer = NULL WHERE state = 1 AND length(answer) > "
                            + StoredAnswer.MAX_KEPT,
                    "UPDATE webhooks SET cost = cost + length(answer) WHERE state = 1 AND answer IS NOT NULL",
                    """
                            UPDATE usage SET bytes = bytes + (
                              SELECT coalesce(sum(length(answer)), 0) FROM webhooks
                              WHERE webhooks.runtime = usage.runtime AND webhooks.state = 1
                                AND (usage.source = '' OR webhooks.source = usage.source)) WHERE state = 1"""),
            List.of("ALTER TABLE webhooks ADD COLUMN unsent INTEGER NOT NULL DEFAULT 0",
                    "ALTER TABLE webhooks ADD COLUMN refused INTEGER NOT NULL DEFAULT 0"),
            // The address that opened a source which never accepted, and whether its name resolves.
            List.of("""
                    CREATE TABLE new_sources (
                      runtime TEXT NOT NULL, source TEXT NOT NULL, network INTEGER NOT NULL, v6 INTEGER NOT NULL,
                      name INTEGER NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (runtime, source)) STRICT, WITHOUT ROWID"""),
            // Since when, and when last, an attempt said that there is no such name. Earlier ones said less.
            List.of("ALTER TABLE new_sources ADD COLUMN nameless INTEGER NOT NULL DEFAULT 0",
                    "ALTER TABLE new_sources ADD COLUMN last INTEGER NOT NULL DEFAULT 0",
                    "UPDATE new_sources SET name = 0"));

    static final SqliteSchema SCHEMA = new SqliteSchema(VERSIONS, "webhooks");

    private InboxSchema() {}
}
