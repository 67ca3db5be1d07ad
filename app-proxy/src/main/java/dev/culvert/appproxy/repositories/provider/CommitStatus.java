package dev.culvert.appproxy.repositories.provider;

import org.jspecify.annotations.Nullable;

/**
 * What a commit is told to have come to.
 *
 * @param repository {@code owner/name}
 * @param sha the commit's full id
 * @param state how it went
 * @param context what tells it, as {@code ci/build}
 * @param description one line, may be empty
 * @param targetUrl more about it, or null
 */
public record CommitStatus(String repository, String sha, State state, String context, String description,
        @Nullable String targetUrl) {
    /** How it went. */
    public enum State {
        PENDING, SUCCESS, FAILURE, ERROR
    }
}
