package dev.culvert.platform.directory.store;

import org.jspecify.annotations.Nullable;

/**
 * A change that may invalidate earlier answers.
 *
 * @param seq increases with each change of any account
 * @param what {@code key}, {@code user}, {@code team} or {@code rule}
 * @param user the only affected user; null: any user of the account
 */
record Change(long seq, String what, @Nullable String user) {}
