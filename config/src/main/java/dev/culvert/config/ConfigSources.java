package dev.culvert.config;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All sources of one configuration, in rising precedence: file, environment, flags.
 *
 * @param file the content of the file, or null if there is no file
 * @param environment variables by name; those that do not start with {@code CULVERT_} are ignored
 * @param flags values by flag name, {@code --edge-domain}
 * @param coded values by dotted key that code sets; they override all other sources
 */
public record ConfigSources(ConfigNode.@Nullable Entries file, Map<String, String> environment,
        Map<String, String> flags, Map<String, String> coded) {

    /** Sources with only values that code sets, by dotted key. */
    public static ConfigSources of(Map<String, String> coded) {
        return new ConfigSources(null, Map.of(), Map.of(), coded);
    }
}
