package dev.culvert.http.observe;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whether a part can do its work now, as {@code /readyz} tells.
 *
 * @param reason why not, for an operator; null when ready
 * @param degraded what of it does not do its work while the rest does, a line each
 */
public record Readiness(@Nullable String reason, List<String> degraded) {
    /** Ready to work. */
    public static final Readiness READY = new Readiness(null, List.of());

    /** Not ready, and why. */
    public static Readiness notReady(String reason) {
        return new Readiness(reason, List.of());
    }

    /** Ready to work, but for what these lines name; none: {@link #READY}. */
    public static Readiness degraded(List<String> lines) {
        return new Readiness(null, List.copyOf(lines));
    }

    /** The same, but for what this line names, if it is ready; null: nothing. */
    public Readiness but(@Nullable String trouble) {
        return trouble == null || reason != null
                ? this
                : degraded(Stream.concat(degraded.stream(), Stream.of(trouble)).toList());
    }

    /** What {@code /readyz} answers, without the last line's end. */
    public String text() {
        if (reason != null) {
            return reason;
        }
        return degraded.isEmpty() ? "ok" : "degraded\n" + String.join("\n", degraded);
    }

    public boolean ready() {
        return reason == null;
    }
}
