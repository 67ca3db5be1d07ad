package dev.culvert.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The origin of a value, as error messages and {@code --check-config} show it.
 *
 * @param text {@code server.yaml:3}, {@code CULVERT_EDGE_DOMAIN}, {@code --edge-domain} or {@code default}
 * @param folder the base of relative paths; null for the working directory
 */
public record Origin(String text, @Nullable Path folder) {
    /** The origin of every value that no source sets. */
    public static final Origin DEFAULT = new Origin("default", null);

    /** An origin whose relative paths are resolved against the working directory. */
    public static Origin of(String text) {
        return new Origin(text, null);
    }

    @Override
    public String toString() {
        return text;
    }
}
