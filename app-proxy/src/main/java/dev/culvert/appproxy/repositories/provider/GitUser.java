package dev.culvert.appproxy.repositories.provider;

import java.util.List;

/**
 * The owner of a token.
 *
 * @param login the user's name, which Git sends beside the token
 * @param scopes the token's scopes in the provider's words; empty if the provider does not report them
 */
public record GitUser(String login, List<String> scopes) {
    public GitUser {
        scopes = List.copyOf(scopes);
    }
}
