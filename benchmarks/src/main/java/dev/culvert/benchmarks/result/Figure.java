package dev.culvert.benchmarks.result;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/** What a report shows of a cell. */
enum Figure {
    /** Exchanges that succeeded, a second. */
    REQUESTS_PER_SECOND("requests/s"),
    /** Body bytes of both directions. */
    MIB_PER_SECOND("MiB/s"),
    /** The median latency. */
    P50("p50 ms"),
    /** The latency that 1 % of the exchanges exceed. */
    P99("p99 ms"),
    /** Without the JVM's compilers. */
    CPU_PER_REQUEST("CPU µs/request"),
    /** Without the JVM's compilers. */
    CPU_PER_MIB("CPU µs/MiB"),
    /** Resident memory at the end. */
    RSS("RSS MiB"),
    /** Context switches of all threads. */
    SWITCHES_PER_REQUEST("switches/request"),
    /** Exchanges that failed. */
    ERRORS("errors");

    private static final double MIB = 1 << 20;
    private static final double MICROS_PER_MILLI = 1000;
    /** With fewer pairs, all ratios lie on one side of 1 too often by chance. */
    private static final int PAIRS_FOR_VERDICT = 3;

    private final String label;

    Figure(String label) {
        this.label = label;
    }

    /** The heading of a column, with the unit. */
    String label() {
        return label;
    }

    /** The figure of a cell; empty if it would be a division by zero, such as CPU time without a request. */
    OptionalDouble of(Cell cell) {
        if (divisor(cell) <= 0) {
            return OptionalDouble.empty();
        }
        double value = value(cell);
        return Double.isFinite(value) ? OptionalDouble.of(value) : OptionalDouble.empty();
    }

    /** Formats the median of values of this figure. */
    String median(@Nullable Spread values) {
        if (values == null) {
            return Numbers.NONE;
        }
        return this == ERRORS ? Numbers.trimmed(values.median()) : Numbers.value(values.median());
    }

    /** Judges the ratios to the baseline: clear only if all pairs agree. */
    Verdict verdict(Spread ratio) {
        if (ratio.count() < PAIRS_FOR_VERDICT || ratio.min() <= 1 && ratio.max() >= 1) {
            return Verdict.UNCLEAR;
        }
        return ratio.min() > 1 == isMoreBetter() ? Verdict.BETTER : Verdict.WORSE;
    }

    private boolean isMoreBetter() {
        return this == REQUESTS_PER_SECOND || this == MIB_PER_SECOND;
    }

    private double divisor(Cell cell) {
        return switch (this) {
            case REQUESTS_PER_SECOND, MIB_PER_SECOND -> cell.load().seconds();
            case P50, P99, CPU_PER_REQUEST, SWITCHES_PER_REQUEST -> cell.load().requests();
            case CPU_PER_MIB -> cell.load().bytes();
            case RSS, ERRORS -> 1;
        };
    }

    private double value(Cell cell) {
        return switch (this) {
            case REQUESTS_PER_SECOND -> cell.load().perSecond();
            case MIB_PER_SECOND -> cell.load().bytesPerSecond() / MIB;
            case P50 -> cell.load().latency().p50() / MICROS_PER_MILLI;
            case P99 -> cell.load().latency().p99() / MICROS_PER_MILLI;
            case CPU_PER_REQUEST -> cell.cpuPerRequest();
            case CPU_PER_MIB -> cell.cpuPerMib();
            case RSS -> cell.usage().rssBytes() / MIB;
            case SWITCHES_PER_REQUEST -> (double) cell.usage().contextSwitches() / cell.load().requests();
            case ERRORS -> cell.load().failed();
        };
    }

    /** How a target's figure compares with the baseline's. */
    enum Verdict {
        /** All pairs are better than the baseline. */
        BETTER,
        /** All pairs are worse than the baseline. */
        WORSE,
        /** The pairs disagree or are too few. */
        UNCLEAR
    }
}
