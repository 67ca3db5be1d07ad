package dev.culvert.benchmarks.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class CulvertProgramsTest {
    /** Tests run in the module's folder or in the one above it. */
    private static final Path ARGUMENT_FILES = Files.exists(Path.of("launcher"))
            ? Path.of("launcher/src/main/args")
            : Path.of("../launcher/src/main/args");

    static List<Arguments> parts() {
        return List.of(Arguments.of("server", CulvertPrograms.SERVER),
                Arguments.of("client", CulvertPrograms.PART), Arguments.of("router", CulvertPrograms.PART),
                Arguments.of("app-proxy", CulvertPrograms.PART), Arguments.of("cli", CulvertPrograms.SHORT));
    }

    @ParameterizedTest
    @MethodSource("parts")
    void optionsOfTheJvmAreThoseOfTheArgumentFile(String part, List<String> options) throws IOException {
        Stream<String> measured = Launch.OWN.command(options, part)
                .stream()
                .filter(option -> option.startsWith("-X") || option.startsWith("--"));

        assertThat(measured).containsExactlyInAnyOrderElementsOf(argumentsOf(part));
    }

    private static List<String> argumentsOf(String part) throws IOException {
        return Files.readAllLines(ARGUMENT_FILES.resolve(part + ".args"))
                .stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }
}
