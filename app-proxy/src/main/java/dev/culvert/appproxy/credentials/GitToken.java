package dev.culvert.appproxy.credentials;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A token of a Git provider with its owner's user name. Prints without its value; compare with {@link
 * #sameAs}.
 */
public final class GitToken {
    private final String login;
    private final String value;
    private final String fingerprint;

    /**
     * Makes a token.
     *
     * @param login the user's name at the provider, which Git sends with the token as its password
     * @param value the token itself
     */
    public GitToken(String login, String value) {
        this.login = login;
        this.value = value;
        this.fingerprint = fingerprint(login + "\n" + value);
    }

    /** The user's name at the provider: the user part of HTTP basic authentication. */
    public String login() {
        return login;
    }

    /** The secret. It is sent only to the provider, never to logs, errors or the platform. */
    public String value() {
        return value;
    }

    /** Whether the other token has the same value. Takes constant time. */
    public boolean sameAs(GitToken other) {
        return MessageDigest.isEqual(value.getBytes(StandardCharsets.UTF_8),
                other.value.getBytes(StandardCharsets.UTF_8));
    }

    /** Identifies the token in cache keys, only in memory: 128 bits of a hash. */
    public String fingerprint() {
        return fingerprint;
    }

    private static String fingerprint(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(Arrays.copyOf(hash, 16));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return "GitToken[login=" + login + ", value=***]";
    }
}
