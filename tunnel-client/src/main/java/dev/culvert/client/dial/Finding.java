package dev.culvert.client.dial;

import dev.culvert.client.doctor.Preflight;
import org.jspecify.annotations.Nullable;

/**
 * What one check of a {@link Preflight} found.
 *
 * @param check its name: {@code proxy}, {@code dns}, {@code connect}, {@code tls}, {@code websocket}, {@code clock}, {@code
 *     idle}
 * @param advice what to do about it; null: nothing
 */
public record Finding(String check, Result result, String detail, @Nullable String advice) {
    /** How a check went. */
    public enum Result {
        /** As it should be. */
        OK,
        /** It works, but somebody should look at it. */
        WARN,
        /** No tunnel will come up this way. */
        FAILED
    }

    public static Finding ok(String check, String detail) {
        return new Finding(check, Result.OK, detail, null);
    }

    public static Finding warn(String check, String detail, String advice) {
        return new Finding(check, Result.WARN, detail, advice);
    }

    public static Finding failed(String check, String detail, String advice) {
        return new Finding(check, Result.FAILED, detail, advice);
    }
}
