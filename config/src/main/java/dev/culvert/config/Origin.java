package dev.culvert.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a value came from, as error messages and {@code --check-config} say it.
 *
 * @param text {@code server.yaml:3}, {@code CULVERT_EDGE_DOMAIN}, {@code --edge-domain} or {@code default}
 * @param folder what relative paths count from; null for the working directory
 */
public record Origin(String text, @Nullable Path folder) {
    /** The origin of every value that nobody set. */
    public static final Origin DEFAULT = new Origin("default", null);

    /** An origin whose relative paths count from the working directory. */
    public static Origin of(String text) {
        return new Origin(text, null);
    }

    @Override
    public String toString() {
        return text;
    }
}
