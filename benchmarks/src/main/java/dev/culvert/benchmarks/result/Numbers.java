package dev.culvert.benchmarks.result;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.OptionalDouble;

/** Formats figures for people. */
final class Numbers {
    /** Stands for a figure that does not exist. */
    static final String NONE = "–";
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final MathContext TICK_DIGITS = new MathContext(4);

    private Numbers() {}

    /** At least three significant digits down to 1, three decimals below. */
    static String value(double value) {
        double size = Math.abs(value);
        if (size == 0) {
            return "0";
        }
        return decimals(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
    }

    /** Two decimals; three below 0.1. */
    static String ratio(double ratio) {
        return decimals(ratio, ratio > 0 && ratio < 0.1 ? 3 : 2);
    }

    static String ratio(OptionalDouble ratio) {
        return ratio.isPresent() ? ratio(ratio.getAsDouble()) : NONE;
    }

    /** The range of ratios, such as "0.88–1.02". */
    static String range(Spread ratios) {
        return ratio(ratios.min()) + "–" + ratio(ratios.max());
    }

    /** Without trailing zeros. */
    static String trimmed(double value) {
        BigDecimal exact = new BigDecimal(value);
        // A rate of 12345 keeps all its digits; 0.30000000000000004 becomes 0.3.
        int digits = Math.max(TICK_DIGITS.getPrecision(), exact.precision() - exact.scale());
        return exact.round(new MathContext(digits)).stripTrailingZeros().toPlainString();
    }

    /** Such as "250 µs". */
    static String duration(double nanos) {
        if (nanos < NANOS_PER_MICRO) {
            return trimmed(nanos) + " ns";
        }
        if (nanos < NANOS_PER_MILLI) {
            return trimmed(nanos / NANOS_PER_MICRO) + " µs";
        }
        if (nanos < NANOS_PER_SECOND) {
            return trimmed(nanos / NANOS_PER_MILLI) + " ms";
        }
        return trimmed(nanos / NANOS_PER_SECOND) + " s";
    }

    static double millis(long nanos) {
        return nanos / NANOS_PER_MILLI;
    }

    private static String decimals(double value, int decimals) {
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }
}
