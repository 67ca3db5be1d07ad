package dev.culvert.platform.directory.store;

import org.jspecify.annotations.Nullable;

/**
 * An API key as stored, without its text.
 *
 * @param user its user; null for a runtime's key
 * @param runtime its runtime, by name in the account; null for a user's key
 * @param name the name given by its owner
 * @param created seconds since 1970
 * @param expires seconds since 1970, from which on it is refused; null: it does not expire
 * @param lastUsed seconds since 1970, to within an hour; null: never
 */
public record StoredKey(String id, String account, @Nullable String user, @Nullable String runtime,
        String name,
        long created, @Nullable Long expires, @Nullable Long lastUsed) {
    /** The precision of the last use. An exact time would need a write for each call. */
    private static final long USE_IS_EXACT_TO_SECONDS = 3600;

    boolean isExpired(long now) {
        return expires != null && expires <= now;
    }

    /** Whether its use now must be stored. */
    boolean isUseStale(long now) {
        return lastUsed == null || lastUsed + USE_IS_EXACT_TO_SECONDS <= now;
    }
}
