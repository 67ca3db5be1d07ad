package dev.culvert.appproxy.access;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the control plane answers; members of newer versions are passed over. */
final class Answers {
    private Answers() {}

    /** A user of the control plane. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record User(String id, String account, String name, String email, boolean admin) {
        Caller caller() {
            return new Caller(account, id, name, email, admin);
        }
    }

    /**
     * Whose a token is.
     *
     * @param state {@code known}, {@code foreign}, {@code unknown}
     * @param user when known
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Resolved(String state, @Nullable User user) {}

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
