package dev.culvert.platform.directory.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RuleTest {
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
}
