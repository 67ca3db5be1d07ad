package dev.culvert.http.fields;

import io.netty.util.AsciiString;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Validates and creates {@code X-Request-Id} and {@code traceparent} values. Valid values of a caller are
 * kept.
 */
public final class RequestId {
    /** Other systems store ids in their logs, problems and metrics, so longer ones are replaced. */
    static final int MAX_CHARS = 128;

    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd',
            'e', 'f'};
    private static final int TRACEPARENT_CHARS = 55;

    private RequestId() {}

    /** Whether a caller's id is valid: 1..128 characters of visible ASCII. */
    public static boolean valid(@Nullable CharSequence id) {
        if (id == null || id.isEmpty() || id.length() > MAX_CHARS) {
            return false;
        }
        for (int i = 0; i < id.length(); i++) {
            if (id.charAt(i) <= ' ' || id.charAt(i) > '~') {
                return false;
            }
        }
        return true;
    }

    /** A new id: 32 hexadecimal digits. Unique, not secret. */
    public static AsciiString create() {
        byte[] digits = new byte[32];
        hex(digits, 0, ThreadLocalRandom.current().nextLong());
        hex(digits, 16, ThreadLocalRandom.current().nextLong());
        return new AsciiString(digits, false);
    }

    /** Whether a {@code traceparent} is valid (W3C Trace Context §3.2). */
    public static boolean validTraceparent(CharSequence value) {
        if (value.length() < TRACEPARENT_CHARS || value.length() > MAX_CHARS || value.charAt(2) != '-'
                || value.charAt(35) != '-' || value.charAt(52) != '-') {
            return false;
        }
        if (!hex(value, 0, 2) || !hex(value, 3, 35) || !hex(value, 36, 52) || !hex(value, 53, 55)
                || zeros(value, 3, 35) || zeros(value, 36, 52)) {
            return false;
        }
        boolean versionZero = zeros(value, 0, 2);
        boolean forbidden = value.charAt(0) == 'f' && value.charAt(1) == 'f';
        return !forbidden && (value.length() == TRACEPARENT_CHARS
                || (!versionZero && value.charAt(TRACEPARENT_CHARS) == '-'));
    }

    /**
     * Creates the {@code traceparent} of a new trace. It is marked as not sampled, because the gateway
     * records no spans.
     */
    public static AsciiString createTraceparent() {
        byte[] text = new byte[TRACEPARENT_CHARS];
        ThreadLocalRandom random = ThreadLocalRandom.current();
        hex(text, 3, random.nextLong());
        hex(text, 19, nonZero(random));
        hex(text, 36, nonZero(random));
        text[0] = text[1] = text[53] = text[54] = '0';
        text[2] = text[35] = text[52] = '-';
        return new AsciiString(text, false);
    }

    private static long nonZero(ThreadLocalRandom random) {
        long value = random.nextLong();
        return value == 0 ? 1 : value;
    }

    private static void hex(byte[] into, int offset, long value) {
        for (int i = 0; i < 16; i++) {
            into[offset + i] = HEX[(int) (value >>> (60 - 4 * i)) & 0xf];
        }
    }

    private static boolean hex(CharSequence text, int from, int to) {
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return true;
    }

    private static boolean zeros(CharSequence text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text.charAt(i) != '0') {
                return false;
            }
        }
        return true;
    }
}
