package dev.culvert.platform.directory.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RuleTest {
    private static final Rule ARGO = new Rule("r", "workflows", List.of("TERMINATE"), List.of("team"),
            List.of(),
            Map.of("namespace", List.of("argo", "ci-*")));

    @Test
    void allowsMembersWhatItNames() {
        assertThat(ARGO.allows(asked("TERMINATE", Map.of("namespace", "argo")), Set.of("team"))).isTrue();
        assertThat(
                ARGO.allows(asked("TERMINATE", Map.of("namespace", "ci-7", "runtime", "x")), Set.of("team")))
                .isTrue();
    }

    @Test
    void allowsNothingElse() {
        assertThat(ARGO.allows(asked("STOP", Map.of("namespace", "argo")), Set.of("team"))).isFalse();
        assertThat(ARGO.allows(asked("TERMINATE", Map.of("namespace", "prod")), Set.of("team"))).isFalse();
        assertThat(ARGO.allows(asked("TERMINATE", Map.of()), Set.of("team"))).isFalse();
        assertThat(ARGO.allows(asked("TERMINATE", Map.of("namespace", "argo")), Set.of("other"))).isFalse();
    }

    @Test
    void anyOfTheLabelsCounts() {
        Rule red = new Rule("r", "workflows", List.of("STOP"), List.of(), List.of("u"),
                Map.of("label", List.of("team=red")));

        assertThat(red.allows(asked("STOP", Map.of("label", "tier=web,team=red")), Set.of())).isTrue();
        assertThat(red.allows(asked("STOP", Map.of("label", "tier=web,team=redder")), Set.of())).isFalse();
    }

    @Test
    void needsSomebodyAndKnownWords() {
        assertThatThrownBy(() -> new Rule("r", "workflows", List.of("STOP"), List.of(), List.of(), Map.of()))
                .hasMessageContaining("one team or user");
        assertThatThrownBy(
                () -> new Rule("r", "workflow", List.of("STOP"), List.of("t"), List.of(), Map.of()))
                .hasMessageContaining("entity: unknown word");
        assertThatThrownBy(
                () -> new Rule("r", "workflows", List.of("KILL"), List.of("t"), List.of(), Map.of()))
                .hasMessageContaining("actions: unknown word");
    }

    private static AccessQuery asked(String action, Map<String, String> attributes) {
        return new AccessQuery("u", "workflows", action, attributes);
    }
}
