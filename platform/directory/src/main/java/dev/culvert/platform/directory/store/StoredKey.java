package dev.culvert.platform.directory.store;

import org.jspecify.annotations.Nullable;

/**
 * What is known of an API key; never the key itself.
 *
 * @param user whose it is; null for a runtime's
 * @param runtime whose it is, by its name in the account; null for a user's
 * @param name what its owner calls it
 * @param created seconds since 1970
 * @param expires seconds since 1970, from then on it is refused; null: it does not expire
 * @param lastUsed seconds since 1970, to within an hour; null: never
 */
public record StoredKey(String id, String account, @Nullable String user, @Nullable String runtime,
        String name,
        long created, @Nullable Long expires, @Nullable Long lastUsed) {
    /** Keeping the last use exact would cost a write for each call. */
    private static final long USE_IS_EXACT_TO_SECONDS = 3600;

    boolean isExpired(long now) {
        return expires != null && expires <= now;
    }

    /** Whether its use now is to be noted. */
    boolean isUseStale(long now) {
        return lastUsed == null || lastUsed + USE_IS_EXACT_TO_SECONDS <= now;
    }
}
