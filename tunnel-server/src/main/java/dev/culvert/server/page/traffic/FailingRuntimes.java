package dev.culvert.server.page.traffic;

import dev.culvert.relay.observe.RequestTraffic;
import dev.culvert.relay.observe.TrafficSummary;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Notices runtimes whose requests fail: {@link #MIN_REQUESTS} requests or more in the last five minutes, of
 * which a tenth or more failed. It goes on until less than a twentieth fails, so that it does not flicker.
 * Bounded, as the counters are. Safe for use by any thread.
 */
public final class FailingRuntimes {
    /** The slots of {@link RequestTraffic} that are looked at: five minutes. */
    public static final int SLOTS = 10;
    static final int MIN_REQUESTS = 10;
    static final double BEGINS = 0.1;
    static final double ENDS = 0.05;

    private final Map<String, Instant> since = new HashMap<>();

    /**
     * A runtime whose requests fail.
     *
     * @param traffic its requests in the last five minutes
     * @param since when it was noticed
     */
    public record Failing(TrafficSummary traffic, Instant since) {}

    /** Judges the present figures. The runtime with the most failures is the first. */
    public synchronized List<Failing> look(Collection<TrafficSummary> traffic, Instant now) {
        List<Failing> failing = new ArrayList<>();
        Map<String, Instant> before = new HashMap<>(since);
        since.clear();
        for (TrafficSummary each : traffic) {
            Instant noticed = before.get(each.runtime());
            double share = each.share(each.failures());
            if (noticed == null ? each.requests() >= MIN_REQUESTS && share >= BEGINS : share >= ENDS) {
                Instant from = Objects.requireNonNullElse(noticed, now);
                since.put(each.runtime(), from);
                failing.add(new Failing(each, from));
            }
        }
        failing.sort(Comparator.comparingLong((Failing one) -> one.traffic.failures()).reversed());
        return failing;
    }
}
