package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import java.time.Instant;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One line of the access log. Never a query, a cookie or {@code Authorization}: secrets stand there.
 *
 * @param endedMillis since 1970
 * @param runtime {@code account/name}; empty when the host is nobody's
 * @param status 0: the caller left before there was one
 * @param bytesIn of the request's body
 * @param bytesOut of the response's body
 * @param totalMicros from the head, once read, to the end of the exchange
 */
record AccessEntry(long endedMillis, CharSequence requestId, String runtime, RequestFacts facts, int status,
        @Nullable Problem problem, long bytesIn, long bytesOut, End end, HopTimings times, long totalMicros) {
    static final int MAX_PATH = 2048;
    static final int MAX_TEXT = 256;

    /** How an exchange ended. */
    enum End {
        /** Both sides have all that they should have. */
        COMPLETE,
        /** The caller went away before it had its response. */
        CALLER_LEFT,
        /** The response was cut off, so that it does not look complete. */
        RESET;

        String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Gives keys and values, in the order in which they stand in the line. */
    void tell(BiConsumer<String, Object> line) {
        line.accept("began", Instant.ofEpochMilli(endedMillis - totalMicros / 1000).toString());
        line.accept("requestId", text(requestId, MAX_TEXT));
        line.accept("runtime", runtime);
        line.accept("caller", facts.caller());
        line.accept("method", text(facts.method(), MAX_TEXT));
        line.accept("host", text(facts.host(), MAX_TEXT));
        line.accept("path", text(facts.target(), MAX_PATH));
        line.accept("protocol", facts.protocol());
        line.accept("status", status);
        Problem cause = problem;
        if (cause != null) {
            line.accept("cause", cause.cause().word());
            line.accept("hop", cause.hop().word());
        }
        line.accept("end", end.word());
        line.accept("bytesIn", bytesIn);
        line.accept("bytesOut", bytesOut);
        line.accept("userAgent", text(facts.userAgent(), MAX_TEXT));
        line.accept("queueMicros", times.queueMicros());
        line.accept("bodyMicros", times.bodyMicros());
        line.accept("windowMicros", times.windowMicros());
        line.accept("tunnelMicros", times.tunnelMicros());
        line.accept("routerMicros", times.routerMicros());
        line.accept("upstreamMicros", times.upstreamMicros());
        line.accept("totalMicros", totalMicros);
    }

    /** One line of printable ASCII without quotes, so that nobody writes lines or keys of their own. */
    private static String text(CharSequence value, int most) {
        int length = Math.min(value.length(), most);
        var text = new StringBuilder(length + 16);
        for (int i = 0; i < length; i++) {
            char c = value.charAt(i);
            if (c < ' ' || c > '~' || c == '"' || c == '\\') {
                text.append(String.format(Locale.ROOT, c > 0xff ? "\\u%04x" : "\\x%02x", (int) c));
            } else {
                text.append(c);
            }
        }
        return (length < value.length() ? text.append("...") : text).toString();
    }
}
