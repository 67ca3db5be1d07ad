package dev.culvert.server.page.traffic;

import dev.culvert.relay.observe.RequestTraffic;
import dev.culvert.relay.observe.TrafficSummary;
import dev.culvert.relay.observe.TrafficSummary.Reason;
import dev.culvert.web.Format;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a runtime in the last minutes, as a row of the overview.
 *
 * @param traffic what it shows
 */
public record TrafficLine(TrafficSummary traffic) {
    private static final int MAX_LINES = 10;
    private static final int PERCENT = 100;

    /** The runtimes with the most failures, then those with the most requests. */
    public static List<TrafficLine> of(List<TrafficSummary> traffic) {
        return traffic.stream()
                .sorted(Comparator.comparingLong(TrafficSummary::failures)
                        .thenComparingLong(TrafficSummary::requests)
                        .reversed())
                .limit(MAX_LINES)
                .map(TrafficLine::new)
                .toList();
    }

    /** The runtime, in words. */
    public String name() {
        return switch (traffic.runtime()) {
            case "" -> "hosts that no runtime has";
            case RequestTraffic.OTHERS -> "further runtimes";
            default -> traffic.runtime();
        };
    }

    /** The path of the runtime's page; null: it is no runtime. */
    public @Nullable String path() {
        return traffic.runtime().indexOf('/') > 0 ? "/runtimes/" + traffic.runtime() : null;
    }

    /** Requests a second. */
    public String rate() {
        return rate(traffic.perSecond());
    }

    static String rate(double perSecond) {
        if (perSecond > 0 && perSecond < 0.05) {
            return "< 0.1/s";
        }
        return (perSecond < 10
                ? String.format(Locale.ROOT, "%.1f", perSecond)
                : Format.count(Math.round(perSecond)))
                + "/s";
    }

    public String clientErrors() {
        return percent(traffic.clientErrors());
    }

    public String serverErrors() {
        return percent(traffic.serverErrors());
    }

    public String problems() {
        return percent(traffic.problems());
    }

    /** The share of failed requests. */
    public String failures() {
        return percent(traffic.failures());
    }

    private String percent(long count) {
        double percent = traffic.share(count) * PERCENT;
        return percent > 0 && percent < 0.5 ? "< 1 %" : Math.round(percent) + " %";
    }

    public String p50() {
        return Format.seconds(traffic.p50());
    }

    public String p99() {
        return Format.seconds(traffic.p99());
    }

    /** Why most of the failed requests failed; empty: none failed. */
    public String mostly() {
        Reason reason = traffic.mostly();
        if (reason == null) {
            return "";
        }
        return reason.cause() == null
                ? "answers of the upstream"
                : reason.cause().word() + " at " + reason.hop().word();
    }
}
