package dev.culvert.appproxy.commits;

/**
 * A file that the raw endpoint answers with.
 *
 * @param revision the id of its blob
 * @param size its size in bytes; {@link #UNREAD} if the caller has this state of it
 */
record RawFile(String revision, long size) {
    static final long UNREAD = -1;
}
