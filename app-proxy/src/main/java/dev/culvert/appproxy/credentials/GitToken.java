package dev.culvert.appproxy.credentials;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** A token of a Git provider and whose it is. Prints without its value; compare with {@link #sameAs}. */
public final class GitToken {
    private final String login;
    private final String value;

    /**
     * A token.
     *
     * @param login the user's name at the provider, which Git sends with the token as its password
     * @param value the token itself
     */
    public GitToken(String login, String value) {
        this.login = login;
        this.value = value;
    }

    /** The user's name at the provider: the user part of HTTP basic authentication. */
    public String login() {
        return login;
    }

    /** The secret: for the provider alone, never for logs, errors or the platform. */
    public String value() {
        return value;
    }

    /** Whether the other one has the same value, in time that does not depend on it. */
    public boolean sameAs(GitToken other) {
        return MessageDigest.isEqual(value.getBytes(StandardCharsets.UTF_8),
                other.value.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return "GitToken[login=" + login + ", value=***]";
    }
}
