package dev.culvert.appproxy.commits;

/**
 * A commit that landed.
 *
 * @param sha its id
 * @param message its whole message
 * @param date when it was made, ISO 8601
 * @param committer who made it
 */
record CommitResult(String sha, String message, String date, Person committer) {
    /** A name and an address. */
    record Person(String name, String email) {}
}
