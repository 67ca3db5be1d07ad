package dev.culvert.appproxy.credentials;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** A token of a Git provider and whose it is. Prints without its value; compare with {@link #sameAs}. */
public final class GitToken {
    private final String login;
    private final String value;
    private final String fingerprint;

    /**
     * A token.
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

    /** The secret: for the provider alone, never for logs, errors or the platform. */
    public String value() {
        return value;
    }

    /** Whether the other one has the same value, in time that does not depend on it. */
    public boolean sameAs(GitToken other) {
        return MessageDigest.isEqual(value.getBytes(StandardCharsets.UTF_8),
                other.value.getBytes(StandardCharsets.UTF_8));
    }

    /** Stands for the token in keys of caches, in memory alone: 128 bits of a hash. */
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
