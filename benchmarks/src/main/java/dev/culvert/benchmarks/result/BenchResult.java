package dev.culvert.benchmarks.result;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A result file.
 *
 * @param version of this form: 1
 * @param taken when, ISO 8601
 * @param baseline the target that ratios are to
 * @param machine what figures depend on, by name, such as cores, Linux, JDK, load before
 * @param warnings why the figures may not be trusted, such as a busy machine
 * @param cells in the order in which they were measured
 */
public record BenchResult(int version, String taken, String baseline, Map<String, String> machine,
        List<String> warnings, List<Cell> cells) {
    public static final int VERSION = 1;
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /** Reads a result file. Throws IllegalArgumentException for what is none. */
    public static BenchResult read(Path file) {
        try {
            BenchResult read = JSON.readValue(Files.readString(file), BenchResult.class);
            if (read == null) {
                throw new IllegalArgumentException(file + " is no result file: it holds null");
            }
            if (read.version != VERSION) {
                throw new IllegalArgumentException(
                        file + ": version " + read.version + " (expected: " + VERSION + ")");
            }
            return read;
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(file + " is no result file: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void write(Path file) throws IOException {
        Files.writeString(file, JSON.writeValueAsString(this) + "\n");
    }
}
