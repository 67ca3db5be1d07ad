/**
 * Databases on a PostgreSQL server: a pool of connections, transactions with time limits, schema versions by
 * Flyway, and texts for what goes wrong. Found by {@link dev.culvert.store.DatabaseEngine#open}; a process
 * that uses SQLite loads none of it.
 */
@NullMarked
package dev.culvert.store.postgres;

import org.jspecify.annotations.NullMarked;
