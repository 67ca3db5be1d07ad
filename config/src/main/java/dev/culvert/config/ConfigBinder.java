package dev.culvert.config;

import java.util.List;
import java.util.Map;

/**
 * Makes configuration records from what files, environment, flags and code say. The records describe themselves with
 * {@link Setting}; their compact constructors check what one component can't say and throw {@link ConfigException}.
 *
 * <p>Precedence: defaults, file, environment, flags, code. A list or map is taken whole from the highest source that
 * sets it. Mistakes are reported together in {@link ConfigErrors}; what a
 * record itself checks is reported once all of its values can be read. Thread-safe: nothing is kept between calls.
 */
public final class ConfigBinder {
    private ConfigBinder() {}

    /**
     * Binds one record from values by dotted key, for embedding and tests: {@code Map.of("edge.domain", "x.test")}.
     * Lists are comma-separated, maps {@code key=value} or one dotted key per entry.
     *
     * @throws ConfigErrors naming the mistakes
     */
    public static <T extends Record> T bind(Class<T> type, Map<String, String> values) {
        return bind(ConfigSources.of(values), List.of(type)).value(type);
    }

    /**
     * Binds records that share one namespace: each takes its own top-level keys of the same file.
     *
     * @throws ConfigErrors naming the mistakes
     */
    public static ConfigBinding bind(ConfigSources sources, List<Class<? extends Record>> types) {
        return new Binder(shapes(types), sources).bind();
    }

    /** The settings of these records, in their order: for help texts and documents. */
    public static List<SettingInfo> settings(List<Class<? extends Record>> types) {
        return SettingList.of(shapes(types));
    }

    private static List<Shape.Group> shapes(List<Class<? extends Record>> types) {
        return types.stream().map(Shape::group).toList();
    }
}
