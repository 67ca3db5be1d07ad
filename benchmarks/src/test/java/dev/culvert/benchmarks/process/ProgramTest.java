package dev.culvert.benchmarks.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProgramTest {
    @Test
    void variablesForCulvertDoNotReachPrograms() {
        var environment = new HashMap<>(
                Map.of("PATH", "/bin", "CULVERT_ADMIN_TOKEN_FILE", "token", "CULVERT_EDGE_LISTEN", "x"));

        Program.clean(environment);

        assertThat(environment).containsOnlyKeys("PATH");
    }
}
