package dev.culvert.appproxy.commits;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** A Kubernetes object as maps and lists, to and from YAML. */
final class Manifest {
    /** The maximum number of YAML aliases: far more than an Application has. */
    private static final int MAX_ALIASES = 50;

    private Manifest() {}

    /** Writes one document, with the members in their order. */
    static String yaml(Map<String, ?> object) {
        return new Dump(DumpSettings.builder()
                .setDefaultFlowStyle(FlowStyle.BLOCK)
                .setSplitLines(false)
                .build()).dumpToString(object);
    }

    /** Parses the single object of a file. Errors: HandlerException CONFLICT if the file has none. */
    static Map<String, Object> object(FileRead file) {
        String path = file.path();
        try {
            Object loaded = new Load(LoadSettings.builder().setMaxAliasesForCollections(MAX_ALIASES).build())
                    .loadFromString(file.data());
            return copy(loaded, path);
        } catch (YamlEngineException e) {
            throw unexpected(path);
        }
    }

    /** A member that is an object and may be changed in place; created when absent. */
    static Map<String, Object> member(Map<String, Object> object, String name, String path) {
        Map<String, Object> member = copy(object.getOrDefault(name, Map.of()), path);
        object.put(name, member);
        return member;
    }

    /** A map that leaves out members without a value. */
    static Map<String, Object> of(@Nullable Object... namesAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            Object value = namesAndValues[i + 1];
            if (value != null) {
                map.put(String.valueOf(namesAndValues[i]), value);
            }
        }
        return map;
    }

    private static Map<String, Object> copy(@Nullable Object value, String path) {
        if (!(value instanceof Map<?, ?> map)) {
            throw unexpected(path);
        }
        Map<String, Object> copy = new LinkedHashMap<>();
        map.forEach((name, member) -> copy.put(String.valueOf(name), member));
        return copy;
    }

    private static HandlerException unexpected(String path) {
        return HandlerException.of(Reason.CONFLICT, "not an Application's manifest: " + path);
    }
}
