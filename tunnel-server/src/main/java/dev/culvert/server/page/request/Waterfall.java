package dev.culvert.server.page.request;

import dev.culvert.relay.observe.RequestRecord;
import dev.culvert.web.Format;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The time of a request by hops, one after the other.
 *
 * @param bars the hops that took time, in order
 * @param total the time of the whole request
 */
public record Waterfall(List<Bar> bars, String total) {
    private static final double MICROS = 1e6;
    private static final String REFUSAL = "Refusal";
    /** A bar stays visible. */
    private static final double MIN_PERCENT = 0.4;

    /**
     * The time of one hop.
     *
     * @param hop its name
     * @param meaning what happened in this time
     * @param time the time, for people
     * @param percent its share of the whole, for people
     * @param x where the bar begins, as a percentage
     * @param width the length of the bar, as a percentage
     * @param tone {@code bad} if the request failed here, {@code part} for a part of the bar before
     */
    public record Bar(String hop, String meaning, long micros, String time, String percent, String x,
            String width, String tone) {}

    static Waterfall of(RequestRecord request) {
        var bars = new Bars(request.totalMicros(), request.hop());
        bars.add("Queue", "edge", "checks, and the wait for a tunnel that reconnects", request.queueMicros());
        bars.add("Request body", "", "until its last byte left the server", request.bodyMicros());
        bars.addPart("of it waiting",
                "bytes that waited in the server, for a slow upstream or their turn in the tunnel",
                Math.min(request.windowMicros(), request.bodyMicros()), request.bodyMicros());
        bars.add("Tunnel", "tunnel", "both ways, and the client", request.tunnelMicros());
        bars.add("Router", "router", "route, pool, name and dial in the cluster", request.routerMicros());
        bars.add("Upstream", "upstream", "until the service sent the head of its response",
                request.upstreamMicros());
        if (isRefusal(request)) {
            bars.add(REFUSAL, "", "the gateway answered in place of the service", bars.rest());
        } else {
            bars.add("Response", "", "from its head to its last byte", bars.rest());
        }
        return new Waterfall(List.copyOf(bars.all), seconds(request.totalMicros()));
    }

    /** Whether the gateway's problem was the whole answer. */
    static boolean isRefusal(RequestRecord request) {
        return request.cause() != null && request.end().equals("complete");
    }

    /** The hop that took the most; null: nothing took time, or a refusal did. */
    public @Nullable Bar longest() {
        Bar longest = longestBar();
        return longest == null || longest.hop.equals(REFUSAL) ? null : longest;
    }

    private @Nullable Bar longestBar() {
        return bars.stream()
                .filter(bar -> !bar.tone.equals("part"))
                .max(Comparator.comparingLong(Bar::micros))
                .orElse(null);
    }

    static String seconds(long micros) {
        return Format.seconds(micros / MICROS);
    }

    /** Lines up bars. */
    private static final class Bars {
        private final List<Bar> all = new ArrayList<>();
        private final long total;
        private final @Nullable String failed;
        private long at;

        Bars(long total, @Nullable String failed) {
            this.total = Math.max(1, total);
            this.failed = failed;
        }

        void add(String hop, String word, String meaning, long micros) {
            boolean bad = word.equals(failed);
            if (micros > 0 || bad) {
                all.add(bar(hop, meaning, micros, at, bad ? "bad" : ""));
            }
            at += micros;
        }

        /** Adds a part of the bar before, of which it is the end. */
        void addPart(String name, String meaning, long micros, long whole) {
            if (micros > 0) {
                all.add(bar(name, meaning, micros, at - whole, "part"));
            }
        }

        long rest() {
            return Math.max(0, total - at);
        }

        private Bar bar(String hop, String meaning, long micros, long from, String tone) {
            double share = Math.min(100, micros * 100.0 / total);
            double width = Math.max(MIN_PERCENT, share);
            double x = Math.clamp(from * 100.0 / total, 0, 100 - width);
            return new Bar(hop, meaning, micros, seconds(micros), Math.round(share) + " %", percent(x),
                    percent(width), tone);
        }

        private static String percent(double value) {
            return String.format(Locale.ROOT, "%.2f%%", value);
        }
    }
}
