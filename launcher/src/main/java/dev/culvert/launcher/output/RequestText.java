package dev.culvert.launcher.output;

import java.util.Locale;

/** Parts of a line about a request. */
public final class RequestText {
    private RequestText() {}

    /** A duration in milliseconds, or from 10 s on in seconds. */
    public static String duration(long nanos) {
        double millis = nanos / 1e6;
        return millis < 10
                ? String.format(Locale.ROOT, "%.1f ms", millis)
                : millis < 10_000
                        ? Math.round(millis) + " ms"
                        : String.format(Locale.ROOT, "%.1f s", millis / 1000);
    }

    /** A status; dashes for 0, when the caller left before there was one. */
    public static String status(int status, boolean coloured) {
        String text = status == 0 ? "---" : String.valueOf(status);
        if (!coloured) {
            return text;
        }
        int colour = switch (status / 100) {
            case 1, 2 -> 32;
            case 3 -> 36;
            case 4 -> 33;
            default -> 31;
        };
        return "\u001b[" + colour + "m" + text + "\u001b[0m";
    }
}
