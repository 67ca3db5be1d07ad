package dev.culvert.appproxy.access;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The responses of the control plane. Members of newer versions are ignored. */
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
     * The owner of a token.
     *
     * @param state {@code known}, {@code foreign}, {@code unknown}
     * @param user the user, if the state is {@code known}
     * @param expires when the token expires, in seconds since 1970; null: it does not expire
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Resolved(String state, @Nullable User user, @Nullable Long expires) {
        /** The lifetime of this answer: {@code most}, or the time until the token expires. */
        Duration life(Duration most, Instant now) {
            if (expires == null) {
                return most;
            }
            Duration left = Duration.between(now, Instant.ofEpochSecond(expires));
            return left.isNegative() ? Duration.ZERO : left.compareTo(most) < 0 ? left : most;
        }
    }

    /** A permission decision. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Decision(boolean isValid, @Nullable String message) {}

    /**
     * A page of changes.
     *
     * @param next the position of the next page
     * @param reset whether there may have been more changes than listed
     * @param more whether another page follows
     * @param changes the changes; only their presence matters, because every change drops all cached answers
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Changes(long next, boolean reset, boolean more, List<Object> changes) {}
}
