package dev.culvert.benchmarks.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CulvertProgramsTest {
    /** Tests run in the module's folder or in the one above it. */
    private static final Path SCRIPT = Files.exists(Path.of("culvert"))
            ? Path.of("culvert")
            : Path.of("../culvert");

    @Test
    void optionsOfTheJvmAreThoseOfTheScript() throws IOException {
        String script = Files.readString(SCRIPT);

        assertThat(script)
                .contains("server | demo) collector='" + String.join(" ", CulvertPrograms.SERVER) + "'")
                .contains("collector=" + String.join(" ", CulvertPrograms.PART) + "\n");
        CulvertPrograms.command(CulvertPrograms.PART)
                .stream()
                .filter(option -> option.startsWith("-X") || option.startsWith("--"))
                .forEach(option -> assertThat(script).contains(option));
    }
}
