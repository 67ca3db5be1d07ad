package dev.culvert.platform.directory;

import org.jspecify.annotations.Nullable;

/**
 * What is known of an API key; never the key itself.
 *
 * @param user whose it is; null for a runtime's
 * @param runtime whose it is, by its name in the account; null for a user's
 * @param name what its owner calls it
 * @param created seconds since 1970
 */
record StoredKey(String id, String account, @Nullable String user, @Nullable String runtime, String name,
        long created) {}
