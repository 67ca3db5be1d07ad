package dev.culvert.server.page;

import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.web.Format;
import dev.culvert.web.Sparkline;
import gg.jte.Content;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the overview shows.
 *
 * @param troubles what is wrong, the worst first
 * @param more the number of further troubles
 * @param runtimes the number of all runtimes
 * @param states the number of runtimes in each state
 * @param figures the figures of the fleet
 * @param live the position of the live updates
 */
public record Overview(List<Trouble> troubles, int more, int runtimes, Map<RuntimeState, Integer> states,
        List<Figure> figures, String live) {
    static final String TOPIC = "overview";
    private static final int MAX_TROUBLES = 12;

    /** A figure with its recent past. */
    public record Figure(String label, String value, Content line) {}

    static Overview of(RuntimeRows rows, FleetHistory history, @Nullable String inboxTrouble,
            @Nullable InboxEntry dead, String live) {
        List<RegisteredRuntime> runtimes = rows.store().runtimes();
        Map<RuntimeState, Integer> states = new EnumMap<>(RuntimeState.class);
        List<Trouble> bad = new ArrayList<>();
        List<Trouble> warnings = new ArrayList<>();
        if (inboxTrouble != null) {
            bad.add(new Trouble(true, "Webhooks: " + inboxTrouble, "Look at the disk of dataDir.", ""));
        }
        if (dead != null) {
            warnings.add(new Trouble(false,
                    "Webhooks are dead; the newest is of " + dead.source() + ", with the result "
                            + (dead.outcome().isEmpty() ? Format.NONE : dead.outcome()) + ".",
                    "Replay them when their event source answers again.", "/webhooks?state=dead"));
        }
        for (RegisteredRuntime runtime : runtimes) {
            RuntimeState state = rows.state(runtime);
            states.merge(state, 1, Integer::sum);
            String path = "/runtimes/" + runtime.name();
            if (state == RuntimeState.DISCONNECTED) {
                bad.add(new Trouble(true, runtime.name() + " is not connected.",
                        "Look at its client's log, or run culvert doctor in its cluster.", path));
            } else if (state == RuntimeState.RECONNECTING) {
                warnings.add(new Trouble(false, runtime.name() + " lost its tunnel and is reconnecting.",
                        "Requests are held for a short time. Wait.", path));
            }
            int waiting = rows.tunnels().waitingFor(runtime.id()).size();
            if (waiting > 0) {
                warnings.add(new Trouble(false,
                        Format.plural(waiting, "instance", "instances") + " of " + runtime.name()
                                + (waiting == 1 ? " waits" : " wait") + " because another one serves it.",
                        "Run one replica, or give each its own runtime.", path));
            }
        }
        bad.addAll(warnings);
        List<Trouble> shown = List.copyOf(bad.subList(0, Math.min(MAX_TROUBLES, bad.size())));
        return new Overview(shown, bad.size() - shown.size(), runtimes.size(), states, figures(history),
                live);
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
