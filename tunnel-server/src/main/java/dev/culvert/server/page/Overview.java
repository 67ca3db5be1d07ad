package dev.culvert.server.page;

import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.PendingWebhooks;
import dev.culvert.relay.observe.RequestTraffic;
import dev.culvert.relay.observe.TrafficSummary;
import dev.culvert.server.page.traffic.FailingRuntimes;
import dev.culvert.server.page.traffic.FailingRuntimes.Failing;
import dev.culvert.server.page.traffic.TrafficLine;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.web.Format;
import dev.culvert.web.Sparkline;
import gg.jte.Content;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the overview shows.
 *
 * @param troubles what is wrong, the worst first
 * @param more the number of further troubles
 * @param runtimes the number of all runtimes
 * @param states the number of runtimes in each state
 * @param figures the figures of the fleet
 * @param requests the figures of all requests in the last five minutes
 * @param traffic the same by runtime, those with the most failures first
 * @param live the position of the live updates
 */
public record Overview(List<Trouble> troubles, int more, int runtimes, Map<RuntimeState, Integer> states,
        List<Figure> figures, List<Figure> requests, List<TrafficLine> traffic, String live) {
    static final String TOPIC = "overview";
    private static final int MAX_TROUBLES = 12;
    /** Webhooks that wait for less are on their way. */
    private static final Duration LONG_WAIT = Duration.ofMinutes(1);

    /** A figure with its recent past. */
    public record Figure(String label, String value, Content line) {}

    /**
     * What is known of webhooks.
     *
     * @param trouble why none is stored; null: they are
     * @param dead the newest dead one; null: none
     * @param pending those that wait; null: none
     */
    record Webhooks(@Nullable String trouble, @Nullable InboxEntry dead, @Nullable PendingWebhooks pending) {
        void addTo(List<Trouble> bad, List<Trouble> warnings, RuntimeRows rows, Instant now) {
            if (trouble != null) {
                bad.add(new Trouble(true, "Webhooks: " + trouble, "Look at the disk of dataDir.", ""));
            }
            if (dead != null) {
                warnings.add(new Trouble(false,
                        "Webhooks are dead; the newest is of " + dead.source() + ", with the result "
                                + (dead.outcome().isEmpty() ? Format.NONE : dead.outcome()) + ".",
                        "Replay them when their event source answers again.", "/webhooks?state=dead"));
            }
            if (pending != null
                    && pending.oldest().stored().plus(LONG_WAIT).isBefore(now)) {
                warnings.add(waiting(pending, rows, now));
            }
        }

        private static Trouble waiting(PendingWebhooks pending, RuntimeRows rows, Instant now) {
            InboxEntry oldest = pending.oldest();
            RegisteredRuntime runtime = rows.store().byId(oldest.runtimeId());
            return new Trouble(false,
                    Format.plural(pending.count(), "webhook waits", "webhooks wait")
                            + "; the oldest is of " + oldest.source()
                            + (runtime == null ? "" : " of " + runtime.name()) + ", stored "
                            + Format.relative(oldest.stored(), now) + ", "
                            + Format.plural(oldest.attempts() + oldest.refused(), "attempt", "attempts")
                            + (oldest.outcome().isEmpty() ? "" : ", last result " + oldest.outcome()) + ".",
                    "Look whether its runtime is connected, its event source answers, and is not paused.",
                    "/webhooks?state=pending");
        }
    }

    /**
     * What is known of requests.
     *
     * @param all all of the last five minutes
     * @param byRuntime the same by runtime
     * @param called the requests of all that is kept, by runtime
     * @param history all over time
     * @param failing runtimes whose requests fail
     */
    record Requests(TrafficSummary all, List<TrafficSummary> byRuntime, Map<String, Long> called,
            List<TrafficSummary> history, List<Failing> failing) {
        static Requests of(RequestTraffic traffic, FailingRuntimes watch, Instant now) {
            List<TrafficSummary> recent = traffic.byRuntime(FailingRuntimes.SLOTS);
            Map<String, Long> called = new HashMap<>();
            traffic.byRuntime(RequestTraffic.SLOTS)
                    .forEach(each -> called.put(each.runtime(), each.requests()));
            return new Requests(traffic.all(FailingRuntimes.SLOTS), recent, called, traffic.history(),
                    watch.look(recent, now));
        }

        private List<Figure> figures() {
            var line = new TrafficLine(all);
            return List.of(new Figure("Requests", line.rate(), line(TrafficSummary::perSecond)),
                    new Figure("4xx", line.clientErrors(), line(each -> each.share(each.clientErrors()))),
                    new Figure("5xx", line.serverErrors(), line(each -> each.share(each.serverErrors()))),
                    new Figure("Problems", line.problems(), line(each -> each.share(each.problems()))),
                    new Figure("Half within", line.p50(), line(TrafficSummary::p50)),
                    new Figure("99 % within", line.p99(), line(TrafficSummary::p99)));
        }

        private Content line(ToDoubleFunction<TrafficSummary> of) {
            return Sparkline.of(history.stream().mapToDouble(of).toArray());
        }
    }

    /** Gathers what is wrong: failing requests first, then what is bad, then warnings. */
    private static final class Found {
        final List<Trouble> bad = new ArrayList<>();
        final List<Trouble> warnings = new ArrayList<>();
        private final RuntimeRows rows;
        private final Requests requests;
        private final Set<String> explained = new HashSet<>();

        Found(RuntimeRows rows, Requests requests) {
            this.rows = rows;
            this.requests = requests;
        }

        void look(RegisteredRuntime runtime, RuntimeState state) {
            String name = runtime.name().toString();
            String path = "/runtimes/" + name;
            if (state == RuntimeState.DISCONNECTED) {
                bad.add(new Trouble(true, name + " is not connected." + explained(name),
                        "Look at its client's log, or run culvert doctor in its cluster.", path));
            } else if (state == RuntimeState.RECONNECTING) {
                warnings.add(new Trouble(false, name + " lost its tunnel and is reconnecting.",
                        "Requests are held for a short time. Wait.", path));
            } else if (state == RuntimeState.NEW && requests.called.containsKey(name)) {
                bad.add(new Trouble(true,
                        name + " never connected, but is called: "
                                + Format.plural(requests.called.get(name), "request", "requests")
                                + " in the last 15 minutes." + explained(name),
                        "Enrol its client, or tell its callers.", path));
            }
            int waiting = rows.tunnels().waitingFor(runtime.id()).size();
            if (waiting > 0) {
                warnings.add(new Trouble(false,
                        Format.plural(waiting, "instance", "instances") + " of " + name
                                + (waiting == 1 ? " waits" : " wait") + " because another one serves it.",
                        "Run one replica, or give each its own runtime.", path));
            }
        }

        /** The failing requests of a runtime whose state explains them; empty: they do not fail. */
        private String explained(String name) {
            for (Failing each : requests.failing) {
                if (each.traffic().runtime().equals(name)) {
                    explained.add(name);
                    return failed(each);
                }
            }
            return "";
        }

        List<Trouble> all() {
            List<Trouble> all = new ArrayList<>();
            for (Failing each : requests.failing) {
                if (!explained.contains(each.traffic().runtime())) {
                    all.add(trouble(each));
                }
            }
            all.addAll(bad);
            all.addAll(warnings);
            return all;
        }
    }

    static Overview of(RuntimeRows rows, FleetHistory history, Webhooks webhooks, Requests requests,
            Instant now, String live) {
        List<RegisteredRuntime> runtimes = rows.store().runtimes();
        Map<RuntimeState, Integer> states = new EnumMap<>(RuntimeState.class);
        var found = new Found(rows, requests);
        webhooks.addTo(found.bad, found.warnings, rows, now);
        for (RegisteredRuntime runtime : runtimes) {
            RuntimeState state = rows.state(runtime);
            states.merge(state, 1, Integer::sum);
            found.look(runtime, state);
        }
        List<Trouble> all = found.all();
        List<Trouble> shown = List.copyOf(all.subList(0, Math.min(MAX_TROUBLES, all.size())));
        return new Overview(shown, all.size() - shown.size(), runtimes.size(), states, figures(history),
                requests.figures(), TrafficLine.of(requests.byRuntime), live);
    }

    private static Trouble trouble(Failing failing) {
        TrafficSummary traffic = failing.traffic();
        var line = new TrafficLine(traffic);
        TrafficSummary.Reason reason = traffic.mostly();
        return new Trouble(true, line.name() + ":" + failed(failing),
                reason == null || reason.cause() != null
                        ? "Look at what the problem means, and at the requests."
                        : "The service itself answers so: look at its log.",
                line.path() == null
                        ? "/requests?status=5xx"
                        : "/requests?status=5xx&runtime=" + RuntimeList.encoded(traffic.runtime()));
    }

    private static String failed(Failing failing) {
        TrafficSummary traffic = failing.traffic();
        var line = new TrafficLine(traffic);
        TrafficSummary.Reason reason = traffic.mostly();
        return " " + Format.count(traffic.failures()) + " of "
                + Format.plural(traffic.requests(), "request", "requests") + " (" + line.failures()
                + ") failed in the last 5 minutes, noticed " + Format.exact(failing.since()) + "."
                + (reason == null
                        ? ""
                        : " Most of them: " + line.mostly() + " (" + Format.count(reason.count()) + ").");
    }

    /** The path of its live updates. */
    public String livePath() {
        return "/live?since=" + live + "&topic=" + TOPIC;
    }

    private static List<Figure> figures(FleetHistory history) {
        FleetHistory.Sample last = history.last();
        return List.of(
                new Figure("Tunnels", Format.count(last.tunnels()),
                        Sparkline.of(history.values(FleetHistory.Sample::tunnels))),
                new Figure("Streams", Format.count(last.streams()),
                        Sparkline.of(history.values(FleetHistory.Sample::streams))),
                new Figure("From runtimes", Format.bytes(last.receivedPerSecond()) + "/s",
                        Sparkline.of(history.values(FleetHistory.Sample::receivedPerSecond))),
                new Figure("To runtimes", Format.bytes(last.sentPerSecond()) + "/s",
                        Sparkline.of(history.values(FleetHistory.Sample::sentPerSecond))),
                new Figure("Longest round trip",
                        last.rttSeconds() > 0 ? Format.seconds(last.rttSeconds()) : Format.NONE,
                        Sparkline.of(history.values(FleetHistory.Sample::rttSeconds))));
    }

    /** The number of runtimes in a state. */
    public int count(RuntimeState state) {
        return states.getOrDefault(state, 0);
    }
}
