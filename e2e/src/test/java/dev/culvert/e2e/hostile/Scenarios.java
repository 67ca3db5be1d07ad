package dev.culvert.e2e.hostile;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** All scenarios, in the order in which they run. */
final class Scenarios {
    static final List<Scenario> ALL = Stream.of(CallerScenarios.all(), TunnelScenarios.all(),
            ReaderScenarios.all(), SessionScenarios.all(), StandbyScenarios.all(), WebhookScenarios.all(),
            AppProxyScenarios.all())
            .flatMap(List::stream)
            .toList();

    /** The findings for which several scenarios stand, by their codes. */
    private static final Map<String, List<String>> CODES = Map.of("E1",
            List.of("closed-windows", "closed-windows-spread"), "E2",
            List.of("silent-addresses", "silent-addresses-tunnel", "unanswered-addresses"), "E3",
            List.of("abandoned-turns"), "E20",
            List.of("slow-readers", "slow-readers-spread", "slow-readers-trickle",
                    "slow-readers-trickle-spread", "unread-event-streams"));

    private Scenarios() {}

    /** Those with these names, or with these codes of findings. */
    static List<Scenario> of(List<String> names) {
        return ALL.stream()
                .filter(scenario -> names.stream()
                        .anyMatch(name -> CODES.getOrDefault(name, List.of(name)).contains(scenario.name())))
                .toList();
    }

    /** The one with this name. */
    static Scenario named(String name) {
        return ALL.stream().filter(scenario -> scenario.name().equals(name)).findFirst().orElseThrow();
    }
}
