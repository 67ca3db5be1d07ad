package dev.culvert.appproxy.repositories.provider;

import org.jspecify.annotations.Nullable;

/**
 * A status of a commit.
 *
 * @param repository {@code owner/name}
 * @param sha the commit's full id
 * @param state the result
 * @param context the name of the reporter, as {@code ci/build}
 * @param description one line, may be empty
 * @param targetUrl the URL of details, or null
 */
public record CommitStatus(String repository, String sha, State state, String context, String description,
        @Nullable String targetUrl) {
    /** The result. */
    public enum State {
        PENDING, SUCCESS, FAILURE, ERROR
    }
}
