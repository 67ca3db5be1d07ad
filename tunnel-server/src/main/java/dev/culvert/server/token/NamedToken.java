package dev.culvert.server.token;

import dev.culvert.admin.AdminCaller;
import dev.culvert.admin.AdminRole;
import dev.culvert.certs.Sha256;
import dev.culvert.server.runtime.InvalidNameException;
import java.time.Instant;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An admin token as stored: without its secret.
 *
 * @param name unique; part of the token's text
 * @param role its role
 * @param hash the hash of the whole text
 * @param created when it was made, or last rotated
 * @param earlier the hash of the text before the last rotation, still valid until {@code earlierUntil}; null
 *        when there is none
 * @param earlierUntil when the earlier text expires; null when there is none
 */
public record NamedToken(String name, AdminRole role, Sha256 hash, Instant created, @Nullable Sha256 earlier,
        @Nullable Instant earlierUntil) {
    private static final int MAX_NAME = 63;
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?");

    /** Returns {@code name}. Throws InvalidNameException when it is not a valid token name. */
    public static String checked(String name) {
        if (name.length() > MAX_NAME || !NAME.matcher(name).matches()
                || name.equals(AdminCaller.BOOTSTRAP.name())) {
            throw new InvalidNameException("name",
                    "not a name of a token (expected: lower-case letters, digits and"
                            + " hyphens, at most " + MAX_NAME + ", not admin)");
        }
        return name;
    }

    /** Whether a presented token with this hash is valid. Takes the same time in both cases. */
    boolean accepts(Sha256 presented, Instant now) {
        boolean present = hash.equals(presented);
        boolean before = earlier != null && earlierUntil != null && earlier.equals(presented)
                && now.isBefore(earlierUntil);
        return present || before;
    }

    /** Returns this token with another secret. The previous secret stays valid until {@code keepUntil}. */
    NamedToken rotated(Sha256 next, Instant now, Instant keepUntil) {
        return keepUntil.isAfter(now)
                ? new NamedToken(name, role, next, now, hash, keepUntil)
                : new NamedToken(name, role, next, now, null, null);
    }
}
