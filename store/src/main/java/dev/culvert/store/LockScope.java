package dev.culvert.store;

import org.jspecify.annotations.Nullable;

/**
 * The transactions that a change excludes until it is committed. SQLite runs one change at a time, whatever
 * its scope; a server runs changes of different scopes at the same time.
 *
 * @param kind how much it excludes
 * @param name of what, for {@link Kind#NAMED}
 */
public record LockScope(Kind kind, @Nullable String name) {
    /** Excludes all changes but those of {@link #ROWS}: for what is counted or checked over everything. */
    public static final LockScope ALL = new LockScope(Kind.ALL, null);
    /**
     * Excludes nothing: for changes that read nothing which another one could change, and rely on locks of
     * rows and unique constraints.
     */
    public static final LockScope ROWS = new LockScope(Kind.ROWS, null);

    /** How much a change excludes. */
    public enum Kind {
        ALL, NAMED, ROWS
    }

    /** Excludes changes of the same name and those of {@link #ALL}: for what is counted or checked within. */
    public static LockScope of(String name) {
        return new LockScope(Kind.NAMED, name);
    }
}
