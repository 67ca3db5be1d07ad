package dev.culvert.http.observe;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whether a service can do its work now, as {@code /readyz} reports it.
 *
 * @param reason why the service is not ready, for an operator; null if it is ready
 * @param word how it is ready, in a word
 * @param degraded the functions that do not work while the others do, one line each
 */
public record Readiness(@Nullable String reason, String word, List<String> degraded) {
    /** Ready to work. */
    public static final Readiness READY = new Readiness(null, "ok", List.of());

    /** Ready, in a way of its own: {@code waiting}. */
    public static Readiness ready(String word) {
        return new Readiness(null, word, List.of());
    }

    /** Not ready for this reason. */
    public static Readiness notReady(String reason) {
        return new Readiness(reason, "", List.of());
    }

    /** Ready to work, except for the functions that these lines name. An empty list equals {@link #READY}. */
    public static Readiness degraded(List<String> lines) {
        return new Readiness(null, "ok", List.copyOf(lines));
    }

    /**
     * Adds a degraded function if the service is ready. Returns this readiness if {@code trouble} is null or
     * it is not ready.
     */
    public Readiness but(@Nullable String trouble) {
        return trouble == null || reason != null
                ? this
                : degraded(Stream.concat(degraded.stream(), Stream.of(trouble)).toList());
    }

    /** The body of the {@code /readyz} response, without the last line end. */
    public String text() {
        if (reason != null) {
            return reason;
        }
        return degraded.isEmpty() ? word : "degraded\n" + String.join("\n", degraded);
    }

    public boolean ready() {
        return reason == null;
    }
}
