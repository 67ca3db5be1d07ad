package dev.culvert.admin;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The role of an admin token. Each role includes the permissions of the roles before it. */
public enum AdminRole {
    /** May read: every GET. */
    READ,
    /** May also operate: drain, disconnect, make enrolment tokens, replay webhooks. */
    OPERATE,
    /** May do anything: also create, delete and revoke runtimes, and manage admin tokens. */
    ADMIN;

    /** Whether this role includes the permissions of {@code needed}. */
    public boolean covers(AdminRole needed) {
        return compareTo(needed) >= 0;
    }

    /** The word in JSON and on the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The role named by a word, or null. */
    public static @Nullable AdminRole of(String word) {
        for (AdminRole role : values()) {
            if (role.word().equals(word)) {
                return role;
            }
        }
        return null;
    }
}
