package dev.culvert.e2e.hostile;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Whether a server's memory grew within what its budget says. The budget counts what callers and tunnels make it hold, at
 * cost; connections, buffers of TLS and of the kernel's reads come on top, for which a factor of three leaves room.
 */
final class MemoryVerdict {
    /** What the memory of a server may grow by, in budgets. */
    static final double FACTOR = 3;
    private static final double MIB = 1 << 20;

    private MemoryVerdict() {}

    /**
     * Returns a line for each kind of memory that grew by more, and for each that was not measured.
     *
     * @param kinds of memory that are judged, as {@link Watch#DIRECT}
     * @param quiet before the attack
     * @param peaks while it went on
     */
    static List<String> of(List<String> kinds, Map<String, Double> quiet, Map<String, Double> peaks) {
        Double budget = peaks.get(Watch.MAX);
        if (budget == null || budget <= 0) {
            return List.of("the memory budget is not in the metrics");
        }
        List<String> faults = new ArrayList<>();
        for (String kind : kinds) {
            Double before = quiet.get(kind);
            Double peak = peaks.get(kind);
            if (before == null || peak == null) {
                faults.add(kind + " memory was not measured");
            } else if (peak - before > FACTOR * budget) {
                faults.add(String.format(Locale.ROOT,
                        "%s memory grew from %.0f to %.0f MiB, with a budget of %.0f", kind, before / MIB,
                        peak / MIB, budget / MIB));
            }
        }
        return faults;
    }
}
