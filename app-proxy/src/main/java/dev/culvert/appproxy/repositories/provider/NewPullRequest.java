package dev.culvert.appproxy.repositories.provider;

/**
 * A pull request to open.
 *
 * @param repository {@code owner/name}
 * @param title one line
 * @param description text, may be empty
 * @param head the branch with the changes, of the same repository
 * @param base the branch that is to receive them
 */
public record NewPullRequest(String repository, String title, String description, String head, String base) {}
