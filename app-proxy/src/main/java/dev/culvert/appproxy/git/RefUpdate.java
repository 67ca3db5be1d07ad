package dev.culvert.appproxy.git;

/**
 * A change of one ref, as a push asks for it.
 *
 * @param ref the full name
 * @param kind what becomes of it
 */
record RefUpdate(String ref, Kind kind) {
    private static final String BRANCHES = "refs/heads/";
    private static final String TAGS = "refs/tags/";

    /** The kinds of changes. Whether an update drops commits is for Git to find out. */
    enum Kind {
        CREATE, UPDATE, DELETE
    }

    /** Whether it is a branch or a tag. Pushes to all other refs are refused. */
    boolean isTaken() {
        return ref.startsWith(BRANCHES) || ref.startsWith(TAGS);
    }

    /** The name for rules on branches: that of the branch, and of all other refs the full name. */
    String branch() {
        return ref.startsWith(BRANCHES) ? ref.substring(BRANCHES.length()) : ref;
    }

    /** Whether it loses what the ref was: it is deleted, or it is a tag that moves. */
    boolean isLossy() {
        return kind == Kind.DELETE || kind == Kind.UPDATE && ref.startsWith(TAGS);
    }
}
