package dev.culvert.appproxy.access;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the control plane answers; members of newer versions are passed over. */
final class Answers {
    private Answers() {}

    /** A user of the control plane. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record User(String id, String account, String name, String email, boolean admin) {
        AuthenticatedCaller caller() {
            return new AuthenticatedCaller(account, id, name, email, admin);
        }
    }

    /**
     * Whose a token is.
     *
     * @param state {@code known}, {@code foreign}, {@code unknown}
     * @param user when known
     * @param expires seconds since 1970 from which on the token serves nobody; null: no such time
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Resolved(String state, @Nullable User user, @Nullable Long expires) {
        /** How long this may be remembered: {@code most}, or until the token expires. */
        Duration life(Duration most, Instant now) {
            if (expires == null) {
                return most;
            }
            Duration left = Duration.between(now, Instant.ofEpochSecond(expires));
            return left.isNegative() ? Duration.ZERO : left.compareTo(most) < 0 ? left : most;
        }
    }

    /** Whether somebody may. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Decision(boolean isValid, @Nullable String message) {}

    /**
     * What changed.
     *
     * @param next where to go on
     * @param reset whether more may have changed than is told
     * @param more whether there is more to read
     * @param changes how many, whatever they are: everything known is dropped
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Changes(long next, boolean reset, boolean more, List<Object> changes) {}
}
