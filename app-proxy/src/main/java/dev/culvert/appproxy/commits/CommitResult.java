package dev.culvert.appproxy.commits;

/**
 * A commit that landed.
 *
 * @param sha its id
 * @param message its whole message
 * @param date the time of the commit, ISO 8601
 * @param committer the committer
 */
record CommitResult(String sha, String message, String date, Person committer) {
    /** A name and an address. */
    record Person(String name, String email) {}
}
