package dev.culvert.config;

import java.util.List;
import java.util.Map;

/**
 * Creates configuration records from a file, the environment, flags and code. {@link Setting} describes the
 * components of the records. Compact constructors check conditions that a {@code Setting} cannot express and
 * throw {@link ConfigException}.
 *
 * <p>Precedence: defaults, file, environment, flags, code. A list or map is taken whole from the highest
 * source that sets it. All errors are reported together in {@link ConfigErrors}. Errors from a compact
 * constructor are reported once all values of the record can be parsed. Thread-safe: the binder keeps no
 * state between calls.
 */
public final class ConfigBinder {
    private ConfigBinder() {}

    /**
     * Binds one record from values by dotted key, for embedding and tests: {@code Map.of("edge.domain",
     * "x.test")}. Lists are comma-separated, maps {@code key=value} or one dotted key per entry.
     *
     * @throws ConfigErrors that lists all errors
     */
    public static <T extends Record> T bind(Class<T> type, Map<String, String> values) {
        return bind(ConfigSources.of(values), List.of(type)).value(type);
    }

    /**
     * Binds records that share one namespace: each takes its own top-level keys of the same file.
     *
     * @throws ConfigErrors that lists all errors
     */
    public static ConfigBinding bind(ConfigSources sources, List<Class<? extends Record>> types) {
        return new Binder(shapes(types), sources).bind();
    }

    /** The settings of these records in declaration order, for help texts and documents. */
    public static List<SettingInfo> settings(List<Class<? extends Record>> types) {
        return SettingList.of(shapes(types));
    }

    private static List<Shape.Group> shapes(List<Class<? extends Record>> types) {
        return types.stream().map(Shape::group).toList();
    }
}
