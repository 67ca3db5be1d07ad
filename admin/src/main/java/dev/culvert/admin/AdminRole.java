package dev.culvert.admin;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The role of an admin token. Of {@link #READ}, {@link #OPERATE} and {@link #ADMIN} each includes the
 * permissions of those before it. {@link #REGISTRAR} is beside them.
 */
public enum AdminRole {
    /** May read: every GET. */
    READ,
    /** May also operate: drain, disconnect, change limits of a runtime, replay webhooks. */
    OPERATE,
    /** May do anything: also create, enrol, delete and revoke runtimes, and manage admin tokens. */
    ADMIN,
    /**
     * May make the calls of {@link AdminRoute#forRegistrars} alone, on runtimes that it has created. The role
     * of a control plane.
     */
    REGISTRAR;

    /** Whether this role includes the permissions of {@code needed}. */
    public boolean covers(AdminRole needed) {
        return this == needed
                || (this != REGISTRAR && needed != REGISTRAR && compareTo(needed) > 0);
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
