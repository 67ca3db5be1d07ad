package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The balancers of docs/operations.md are the files that e2e/scripts/upgrade_gap.py runs. */
class BalancerFilesTest {
    @ParameterizedTest
    @ValueSource(strings = {"haproxy.cfg", "nginx.conf"})
    void theDocumentedBlockIsTheTestedFile(String name) throws IOException {
        String file = Files.readString(Path.of("..", "deploy", "balancer", name));

        assertThat(Files.readString(Path.of("..", "docs", "operations.md")))
                .contains("```\n" + file + "```\n");
    }
}
