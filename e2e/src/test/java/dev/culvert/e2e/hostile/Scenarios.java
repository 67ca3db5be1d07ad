package dev.culvert.e2e.hostile;

import java.util.List;
import java.util.stream.Stream;

/** All scenarios, in the order in which they run. */
final class Scenarios {
    static final List<Scenario> ALL = Stream.of(CallerScenarios.all(), TunnelScenarios.all(),
            SessionScenarios.all(), WebhookScenarios.all(), AppProxyScenarios.all())
            .flatMap(List::stream)
            .toList();

    private Scenarios() {}

    /** The one with this name. */
    static Scenario named(String name) {
        return ALL.stream().filter(scenario -> scenario.name().equals(name)).findFirst().orElseThrow();
    }
}
