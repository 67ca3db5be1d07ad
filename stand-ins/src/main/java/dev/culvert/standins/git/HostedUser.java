package dev.culvert.standins.git;

import java.util.List;

/**
 * A user of the stand-in. Prints without the token.
 *
 * @param login the user's name
 * @param token what it authenticates with, over REST and as the password of Git
 * @param scopes what the token may do, as the provider names it
 * @param mayWrite whether pushes, pull requests, hooks and statuses are taken from it
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
