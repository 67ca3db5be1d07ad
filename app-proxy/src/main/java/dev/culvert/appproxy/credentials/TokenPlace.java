package dev.culvert.appproxy.credentials;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import java.nio.charset.StandardCharsets;

/**
 * The identity of a stored token: owner and integration.
 *
 * @param account the account's id; empty for the runtime's own
 * @param user the user's id; empty for the runtime's own
 * @param integration the integration's name
 */
record TokenPlace(String account, String user, String integration) {
    static TokenPlace of(AuthenticatedCaller caller, String integration) {
        return new TokenPlace(caller.account(), caller.id(), integration);
    }

    static TokenPlace runtime(String integration) {
        return new TokenPlace("", "", integration);
    }

    boolean isRuntime() {
        return user.isEmpty();
    }

    /** The place as bytes, unique for each place: each part follows its length. */
    byte[] bytes() {
        return key().getBytes(StandardCharsets.UTF_8);
    }

    /** The place as text. */
    String key() {
        return account.length() + ":" + account + user.length() + ":" + user + integration.length() + ":"
                + integration;
    }

    /** Parses the text of {@link #key}. Throws IllegalArgumentException for other text. */
    static TokenPlace parse(String key) {
        String[] parts = new String[3];
        String rest = key;
        for (int i = 0; i < parts.length; i++) {
            int colon = rest.indexOf(':');
            int length = colon < 0 ? -1 : Integer.parseInt(rest.substring(0, colon));
            if (length < 0 || colon + 1 + length > rest.length()) {
                throw new IllegalArgumentException("no place of a token");
            }
            parts[i] = rest.substring(colon + 1, colon + 1 + length);
            rest = rest.substring(colon + 1 + length);
        }
        return new TokenPlace(parts[0], parts[1], parts[2]);
    }
}
