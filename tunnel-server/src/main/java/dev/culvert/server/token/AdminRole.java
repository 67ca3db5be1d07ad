package dev.culvert.server.token;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What the holder of an admin token may do. Each role may do what those before it may. */
public enum AdminRole {
    /** Look: every GET. */
    READ,
    /** Keep things running: drain, disconnect, make enrolment tokens, replay webhooks. */
    OPERATE,
    /** Everything: make, delete and revoke runtimes, admin tokens. */
    ADMIN;

    /** Whether this role may do what {@code needed} may. */
    public boolean covers(AdminRole needed) {
        return compareTo(needed) >= 0;
    }

    /** The word in JSON and on the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The role of a word, or null. */
    public static @Nullable AdminRole of(String word) {
        for (AdminRole role : values()) {
            if (role.word().equals(word)) {
                return role;
            }
        }
        return null;
    }
}
