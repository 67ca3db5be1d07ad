package dev.culvert.platform.runtimes.store;

import org.jspecify.annotations.Nullable;

/**
 * What an account has.
 *
 * @param runtimes how many
 * @param hosted the name of its hosted runtime; null: none
 * @param configuration the name of its configuration runtime; null: none
 * @param designated whether that was chosen, rather than the first one
 */
public record RuntimeAccount(long runtimes, @Nullable String hosted, @Nullable String configuration,
        boolean designated) {
    static final RuntimeAccount EMPTY = new RuntimeAccount(0, null, null, false);
}
