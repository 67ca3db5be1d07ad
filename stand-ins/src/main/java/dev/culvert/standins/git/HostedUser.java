package dev.culvert.standins.git;

import java.util.List;

/**
 * A user of the stand-in. {@code toString} omits the token.
 *
 * @param login the user's name
 * @param token the token, for REST and as the password of Git
 * @param scopes the scopes of the token, with the provider's names
 * @param mayWrite whether the user may push and create pull requests, hooks and statuses
 */
public record HostedUser(String login, String token, List<String> scopes, boolean mayWrite) {
    public HostedUser {
        scopes = List.copyOf(scopes);
    }

    @Override
    public String toString() {
        return "HostedUser[" + login + ", token=***]";
    }
}
