package dev.culvert.platform.directory.store;

import dev.culvert.platform.directory.wrapping.KeyWrapping.Wrapped;

/**
 * A stored key of runtime tokens. Its secret is wrapped.
 *
 * @param kid its id, which its tokens name
 * @param generation 1 for the first; the newest that may sign does
 * @param created seconds since 1970
 * @param signsFrom seconds since 1970, from which on it signs
 */
record TokenKey(String kid, long generation, Wrapped wrapped, long created, long signsFrom) {
    /** The same key with other times. */
    TokenKey at(long created, long signsFrom) {
        return new TokenKey(kid, generation, wrapped, created, signsFrom);
    }
}
