package dev.culvert.benchmarks.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class CulvertProgramsTest {
    /** Tests run in the module's folder or in the one above it. */
    private static final Path SCRIPT = Files.exists(Path.of("culvert"))
            ? Path.of("culvert")
            : Path.of("../culvert");

    @Test
    void optionsOfTheJvmAreThoseOfTheScript() throws IOException {
        String script = Files.readString(SCRIPT);

        String memory = text(script, "    memory='(.*)'\n");
        assertThat(String.join(" ", CulvertPrograms.SERVER))
                .isEqualTo(text(script, "server \\| demo\\)\n *collector='(.*)'\n") + " "
                        + text(script, "server \\| demo\\)\n.*\n *heap=(.*)\n") + " " + memory);
        assertThat(String.join(" ", CulvertPrograms.PART)).isEqualTo(
                text(script, "\ncollector=(.*)\n") + " " + text(script, "client .* heap=(.*) ;;") + " "
                        + memory);
        Launch.OWN.command(List.of(), "server")
                .stream()
                .filter(option -> option.startsWith("-X") || option.startsWith("--"))
                .forEach(option -> assertThat(script).contains(option));
    }

    private static String text(String script, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(script);
        assertThat(matcher.find()).isTrue();
        return matcher.group(1);
    }
}
