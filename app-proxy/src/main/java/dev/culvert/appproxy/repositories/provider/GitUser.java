package dev.culvert.appproxy.repositories.provider;

import java.util.List;

/**
 * Whose token it is.
 *
 * @param login the user's name, which Git sends beside the token
 * @param scopes what the token may do, as the provider names it; empty where it does not tell
 */
public record GitUser(String login, List<String> scopes) {
    public GitUser {
        scopes = List.copyOf(scopes);
    }
}
