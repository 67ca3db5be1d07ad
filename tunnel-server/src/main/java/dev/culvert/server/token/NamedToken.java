package dev.culvert.server.token;

import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.Sha256;
import java.time.Instant;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An admin token as it is kept: without its secret.
 *
 * @param name unique; part of the token's text
 * @param role what it allows
 * @param hash of the whole text
 * @param created when it was made, or last rotated
 * @param earlier hash of the text before the last rotation, which is still good until {@code earlierUntil}; null when none is
 * @param earlierUntil when that ends; null when there is none
 */
public record NamedToken(String name, AdminRole role, Sha256 hash, Instant created, @Nullable Sha256 earlier,
        @Nullable Instant earlierUntil) {
    private static final int MAX_NAME = 63;
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?");

    /** Throws InvalidNameException unless {@code name} can be a token's. */
    public static String checked(String name) {
        if (name.length() > MAX_NAME || !NAME.matcher(name).matches()
                || name.equals(AdminCaller.BOOTSTRAP.name())) {
            throw new InvalidNameException("name",
                    "not a name of a token (expected: lower-case letters, digits and"
                            + " hyphens, at most " + MAX_NAME + ", not admin)");
        }
        return name;
    }

    /** Whether a presented token with this hash is good. Takes the same time whether or not. */
    boolean accepts(Sha256 presented, Instant now) {
        boolean present = hash.equals(presented);
        boolean before = earlier != null && earlierUntil != null && earlier.equals(presented)
                && now.isBefore(earlierUntil);
        return present || before;
    }

    /** This token with another secret; the one before stays good until {@code keepUntil}. */
    NamedToken rotated(Sha256 next, Instant now, Instant keepUntil) {
        return keepUntil.isAfter(now)
                ? new NamedToken(name, role, next, now, hash, keepUntil)
                : new NamedToken(name, role, next, now, null, null);
    }
}
