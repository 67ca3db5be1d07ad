package dev.culvert.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Converts the values of environment, flags and code to nodes by dotted key. Collects variables that match no
 * setting.
 */
final class SettingTexts {
    private static final String PREFIX = "CULVERT_";

    private final NavigableMap<String, ConfigNode> nodes = new TreeMap<>();
    private final List<String> warnings = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();

    private final Map<String, Shape> shapes = new LinkedHashMap<>();
    private final Map<String, String> keysByVariable = new TreeMap<>();
    /** Variables that look like those of a setting, and are not. */
    private final Map<String, SettingInfo> lookalikes = new TreeMap<>();
    private final Map<String, String> keysByFlag = new TreeMap<>();

    SettingTexts(List<Shape.Group> roots, ConfigSources sources) {
        roots.forEach(root -> collect(root, ""));
        new TreeMap<>(sources.environment()).forEach(this::variable);
        new TreeMap<>(sources.flags()).forEach(this::flag);
        new TreeMap<>(sources.coded()).forEach(this::coded);
    }

    /** The values by dotted key. */
    NavigableMap<String, ConfigNode> nodes() {
        return nodes;
    }

    List<String> warnings() {
        return warnings;
    }

    List<String> errors() {
        return errors;
    }

    /**
     * Converts a text to the given shape. Lists are split at commas, maps at commas and the first equals
     * sign. A key of a map may occur more than once.
     */
    static ConfigNode node(Shape shape, String text, Origin origin) {
        return switch (shape) {
            case Shape.Many many -> new ConfigNode.Items(parts(text).stream()
                    .<ConfigNode>map(part -> new ConfigNode.Scalar(part, origin))
                    .toList(), origin);
            case Shape.Keyed keyed -> keyed(text, origin);
            case Shape.One one -> new ConfigNode.Scalar(text, origin);
            case Shape.Group group -> new ConfigNode.Scalar(text, origin);
            case Shape.Section section -> new ConfigNode.Scalar(text, origin);
        };
    }

    private static ConfigNode keyed(String text, Origin origin) {
        var entries = new LinkedHashMap<String, ConfigNode>();
        for (String part : parts(text)) {
            int equals = part.indexOf('=');
            if (equals <= 0) {
                return new ConfigNode.Scalar(text, origin);
            }
            entries.merge(part.substring(0, equals),
                    new ConfigNode.Scalar(part.substring(equals + 1), origin),
                    SettingTexts::both);
        }
        return new ConfigNode.Entries(entries, origin);
    }

    private static ConfigNode both(ConfigNode earlier, ConfigNode later) {
        List<ConfigNode> all = new ArrayList<>(
                earlier instanceof ConfigNode.Items several ? several.items() : List.of(earlier));
        all.add(later);
        return new ConfigNode.Items(all, later.origin());
    }

    private static List<String> parts(String text) {
        return List.of(text.split(",", -1))
                .stream()
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
    }

    private void collect(Shape.Group group, String prefix) {
        for (Shape.Field field : group.fields()) {
            String key = field.key(prefix);
            if (field.shape() instanceof Shape.Group inner) {
                collect(inner, key + ".");
            } else if (field.settableByText()) {
                SettingInfo info = SettingList.info(field, key);
                shapes.put(key, field.shape());
                keysByVariable.put(info.variable(), key);
                if (!info.ownVariable().isEmpty()) {
                    lookalikes.put(info.variableOfWords(), info);
                }
                keysByFlag.put(info.flag(), key);
            }
        }
    }

    private void variable(String name, String text) {
        String key = keysByVariable.get(name);
        SettingInfo meant = lookalikes.get(name);
        if (key != null) {
            put(key, text, Origin.of(name));
        } else if (meant != null) {
            warnings.add(name + " does not set " + meant.key() + " of this part: ignored (expected: "
                    + meant.variable() + ")");
        } else if (name.startsWith(PREFIX)) {
            warnings.add(name + " names no setting of this part: ignored"
                    + NearestWord.hint(name, keysByVariable.keySet()));
        }
    }

    private void flag(String name, String text) {
        String key = keysByFlag.get(name);
        if (key != null) {
            put(key, text, Origin.of(name));
        } else {
            errors.add(name + ": unknown flag" + NearestWord.hint(name, keysByFlag.keySet()));
        }
    }

    private void coded(String key, String text) {
        if (shapes.containsKey(key)) {
            put(key, text, Origin.of("code"));
            return;
        }
        for (int dot = key.lastIndexOf('.'); dot > 0; dot = key.lastIndexOf('.', dot - 1)) {
            if (shapes.get(key.substring(0, dot)) instanceof Shape.Keyed) {
                add(key.substring(0, dot), key.substring(dot + 1), text);
                return;
            }
        }
        errors.add("code: " + key + ": unknown key" + NearestWord.hint(key, shapes.keySet()));
    }

    private void add(String mapKey, String entry, String text) {
        var entries = new LinkedHashMap<String, ConfigNode>();
        if (nodes.get(mapKey) instanceof ConfigNode.Entries present
                && present.origin().equals(Origin.of("code"))) {
            entries.putAll(present.entries());
        }
        entries.put(entry, new ConfigNode.Scalar(text, Origin.of("code")));
        nodes.put(mapKey, new ConfigNode.Entries(entries, Origin.of("code")));
    }

    private void put(String key, String text, Origin origin) {
        nodes.put(key, node(shapes.getOrDefault(key, new Shape.One(String.class)), text, origin));
    }
}
