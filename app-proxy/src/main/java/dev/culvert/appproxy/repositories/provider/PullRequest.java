package dev.culvert.appproxy.repositories.provider;

/**
 * An opened pull request.
 *
 * @param id its number in the repository
 * @param webUrl its page for people
 * @param title its title
 * @param state as {@code open}
 */
public record PullRequest(String id, String webUrl, String title, String state) {}
