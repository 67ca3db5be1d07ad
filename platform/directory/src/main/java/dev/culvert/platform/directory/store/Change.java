package dev.culvert.platform.directory.store;

import org.jspecify.annotations.Nullable;

/**
 * Something that answers given before may not hold after.
 *
 * @param seq rises with each change of any account
 * @param what {@code key}, {@code user}, {@code team} or {@code rule}
 * @param user whom alone it concerns; null: anybody of the account
 */
record Change(long seq, String what, @Nullable String user) {}
