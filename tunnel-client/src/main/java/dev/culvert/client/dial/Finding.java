package dev.culvert.client.dial;

import dev.culvert.client.doctor.Preflight;
import org.jspecify.annotations.Nullable;

/**
 * The result of one check of a {@link Preflight}.
 *
 * @param check the name of the check: {@code proxy}, {@code dns}, {@code connect}, {@code tls}, {@code
 *     websocket}, {@code clock}, {@code idle}
 * @param advice the remedy; null for none
 */
public record Finding(String check, Result result, String detail, @Nullable String advice) {
    /** The outcome of a check. */
    public enum Result {
        /** The check passed. */
        OK,
        /** A tunnel works, but an operator should examine this. */
        WARN,
        /** No tunnel can be opened. */
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
