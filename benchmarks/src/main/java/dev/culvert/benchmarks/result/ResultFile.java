package dev.culvert.benchmarks.result;

import dev.culvert.config.Reason;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A result file whose content is complete: no value is missing, and all histograms can be decoded.
 *
 * @param name the path as on the command line
 */
public record ResultFile(String name, BenchResult result) {

    public ResultFile {
        require(result.taken(), name, "taken");
        require(result.baseline(), name, "baseline");
        require(result.machine(), name, "machine");
        require(result.warnings(), name, "warnings");
        require(result.cells(), name, "cells");
        if (result.cells().isEmpty()) {
            throw new IllegalArgumentException(name + ": cells is empty (expected: 1 or more)");
        }
        result.machine().forEach((key, value) -> require(value, name, "machine." + key));
        result.warnings().forEach(warning -> require(warning, name, "a warning"));
        for (int i = 0; i < result.cells().size(); i++) {
            check(result.cells().get(i), name, "cells[" + i + "]");
        }
    }

    /** Reads a result file. Throws IllegalArgumentException with a message that names file and mistake. */
    public static ResultFile read(Path file) {
        try {
            return new ResultFile(file.toString(), BenchResult.read(file));
        } catch (UncheckedIOException e) {
            throw new IllegalArgumentException(
                    file + " cannot be read: " + Reason.of(Objects.requireNonNull(e.getCause())), e);
        }
    }

    private static void check(Cell cell, String name, String where) {
        require(cell, name, where);
        require(cell.scenario(), name, where + ".scenario");
        require(cell.target(), name, where + ".target");
        require(cell.usage(), name, where + ".usage");
        require(cell.load(), name, where + ".load");
        Latency latency = cell.load().latency();
        require(latency, name, where + ".load.latency");
        require(latency.histogram(), name, where + ".load.latency.histogram");
        try {
            latency.distribution();
        } catch (IllegalArgumentException | BufferUnderflowException | IndexOutOfBoundsException
                | NegativeArraySizeException e) {
            throw new IllegalArgumentException(name + ": " + where
                    + ".load.latency.histogram is damaged (expected: HdrHistogram's compressed encoding V2"
                    + " in Base64)", e);
        }
    }

    /** Jackson leaves null what the file does not have. */
    private static void require(@Nullable Object value, String name, String key) {
        if (value == null) {
            throw new IllegalArgumentException(name + ": " + key + " is missing");
        }
    }
}
