/** PostgreSQL for tests: one server for each JVM, a database for each test. */
@NullMarked
package dev.culvert.store.postgres.testing;

import org.jspecify.annotations.NullMarked;
