package dev.culvert.config;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One run of the binder. Walks shapes and nodes in parallel and collects values, origins and errors. */
final class Binder {
    private static final String MASK = "***";
    private static final Pattern CREDENTIALS = Pattern.compile("://[^/\\s]*@");

    private final List<Shape.Group> roots;
    /** Precedes every key: empty for a whole file. */
    private final String prefix;
    private final ConfigNode.@Nullable Entries file;
    private final SettingTexts texts;
    private final List<String> errors = new ArrayList<>();
    private final Map<String, ConfigBinding.Effective> effective = new LinkedHashMap<>();

    /** Binds a section of a file, whose keys have {@code prefix} before them. No other source sets it. */
    Binder(List<Shape.Group> roots, String prefix, ConfigNode.Entries section) {
        this.roots = roots;
        this.prefix = prefix;
        this.file = section;
        this.texts = new SettingTexts(List.of(), ConfigSources.of(Map.of()));
    }

    Binder(List<Shape.Group> roots, ConfigSources sources) {
        this.roots = roots;
        this.prefix = "";
        this.file = sources.file();
        this.texts = new SettingTexts(roots, sources);
    }

    ConfigBinding bind() {
        unknownKeys(roots.stream().flatMap(root -> root.fields().stream()).toList(), prefix, file);
        var records = new LinkedHashMap<Class<?>, Object>();
        for (Shape.Group root : roots) {
            Object bound = group(root, prefix, file);
            if (bound != null) {
                records.put(root.type(), bound);
            }
        }
        errors.addAll(texts.errors());
        if (!errors.isEmpty()) {
            throw new ConfigErrors(errors);
        }
        return new ConfigBinding(records, List.copyOf(effective.values()), texts.warnings());
    }

    /** Returns the record, or null after an error in it was recorded. */
    private @Nullable Object group(Shape.Group group, String prefix, ConfigNode.@Nullable Entries entries) {
        int errorsBefore = errors.size();
        var values = new ArrayList<@Nullable Object>();
        for (Shape.Field field : group.fields()) {
            ConfigNode node = entries == null ? null : entries.entries().get(field.name());
            values.add(field(field, field.key(prefix), node, entries));
        }
        return errors.size() > errorsBefore ? null : construct(group, prefix, values, entries);
    }

    private @Nullable Object field(Shape.Field field, String key, @Nullable ConfigNode inFile,
            ConfigNode.@Nullable Entries parent) {
        if (field.shape() instanceof Shape.Group group) {
            boolean absent = inFile == null && !setByText(key);
            if (!absent && group.fields().isEmpty()) {
                note(key, field, "{}", inFile == null ? Origin.DEFAULT : inFile.origin());
            }
            return absent && field.optional() ? null : below(group, key, inFile);
        }
        ConfigNode node = texts.nodes().getOrDefault(key, inFile);
        if (node == null && !field.byDefault().isEmpty()) {
            node = SettingTexts.node(field.shape(), field.byDefault(), defaultOrigin());
        }
        if (node != null) {
            return convert(field.shape(), field, key, node);
        }
        return field.optional() ? null : absent(field, key, parent);
    }

    /**
     * The origin of defaults. Relative paths among them are resolved against the file's folder, like those in
     * the file.
     */
    private Origin defaultOrigin() {
        return file == null ? Origin.DEFAULT : new Origin(Origin.DEFAULT.text(), file.origin().folder());
    }

    private boolean setByText(String key) {
        String next = texts.nodes().ceilingKey(key + ".");
        return next != null && next.startsWith(key + ".");
    }

    private @Nullable Object absent(Shape.Field field, String key, ConfigNode.@Nullable Entries parent) {
        if (field.shape() instanceof Shape.Many) {
            return List.of();
        } else if (field.shape() instanceof Shape.Keyed) {
            return Map.of();
        }
        missing(parent == null ? null : parent.origin(), field, key, field.accepts());
        return null;
    }

    private void missing(@Nullable Origin origin, Shape.Field field, String key, String expected) {
        SettingInfo info = SettingList.info(field, key);
        String how = info.fileOnly() || key.contains("[") || !prefix.isEmpty()
                ? ""
                : "; set it in the file, with " + info.flag() + " or " + info.variable();
        error(origin, key, "missing (expected: " + expected + how + ")");
    }

    private @Nullable Object below(Shape.Group group, String key, @Nullable ConfigNode node) {
        return switch (node) {
            case null -> group(group, key + ".", null);
            case ConfigNode.Entries entries -> {
                unknownKeys(group.fields(), key + ".", entries);
                yield group(group, key + ".", entries);
            }
            case ConfigNode.Scalar scalar when scalar.text().isEmpty() -> group(group, key + ".",
                    new ConfigNode.Entries(Map.of(), scalar.origin()));
            case ConfigNode.Scalar scalar -> group.fields()
                    .stream()
                    .filter(Shape.Field::shorthand)
                    .findFirst()
                    .map(field -> group(group, key + ".",
                            new ConfigNode.Entries(Map.of(field.name(), scalar), scalar.origin())))
                    .orElseGet(
                            () -> refused(key, quoted(scalar.text()), scalar.origin(), group.accepts()));
            case ConfigNode.Items items -> refused(key, "a list", items.origin(), group.accepts());
        };
    }

    private @Nullable Object convert(Shape shape, Shape.Field field, String key, ConfigNode node) {
        return switch (shape) {
            case Shape.Group group -> below(group, key, node);
            case Shape.One one -> {
                Object value = one(one, field, key, node);
                note(key, field, value, node.origin());
                yield value;
            }
            case Shape.Many many -> many(many, field, key, node);
            case Shape.Keyed keyed -> keyed(keyed, field, key, node);
            case Shape.Section section -> section(key, node);
        };
    }

    private @Nullable Object section(String key, ConfigNode node) {
        return switch (node) {
            case ConfigNode.Entries entries -> new ConfigSection(key, entries);
            case ConfigNode.Scalar scalar when scalar.text().isEmpty() -> new ConfigSection(key,
                    new ConfigNode.Entries(Map.of(), scalar.origin()));
            case ConfigNode.Scalar scalar -> refused(key, quoted(scalar.text()), scalar.origin(), "keys");
            case ConfigNode.Items items -> refused(key, "a list", items.origin(), "keys");
        };
    }

    private @Nullable Object one(Shape.One shape, Shape.Field field, String key, ConfigNode node) {
        if (!(node instanceof ConfigNode.Scalar scalar)) {
            String what = node instanceof ConfigNode.Items ? "a list" : "keys below it";
            return refused(key, what, node.origin(), field.accepts());
        }
        try {
            return ScalarType.parse(shape.type(), scalar.text(), scalar.origin().folder());
        } catch (IllegalArgumentException | ArithmeticException e) {
            String shown = field.secret() ? MASK : quoted(scalar.text());
            return refused(key, shown, scalar.origin(), field.accepts());
        }
    }

    private Object many(Shape.Many shape, Shape.Field field, String key, ConfigNode node) {
        List<ConfigNode> items = switch (node) {
            case ConfigNode.Items list -> list.items();
            case ConfigNode.Scalar scalar when scalar.text().isEmpty() -> List.of();
            case ConfigNode.Scalar scalar -> List.of(scalar);
            case ConfigNode.Entries entries -> List.of(entries);
        };
        var values = new ArrayList<Object>();
        for (int i = 0; i < items.size(); i++) {
            ConfigNode item = items.get(i);
            Object value = shape.element() instanceof Shape.One one
                    ? one(one, field, key, item)
                    : convert(shape.element(), field, key + "[" + i + "]", item);
            if (value != null) {
                values.add(value);
            }
        }
        if (shape.flat() || values.isEmpty()) {
            note(key, field, values.stream().map(ScalarType::format).toList(), node.origin());
        }
        return List.copyOf(values);
    }

    private @Nullable Object keyed(Shape.Keyed shape, Shape.Field field, String key, ConfigNode node) {
        if (node instanceof ConfigNode.Scalar scalar && scalar.text().isEmpty()) {
            return Map.of();
        }
        if (!(node instanceof ConfigNode.Entries entries)) {
            String shown = node instanceof ConfigNode.Scalar scalar && !field.secret()
                    ? quoted(scalar.text())
                    : "a list";
            return refused(key, shown, node.origin(),
                    shape.accepts() + ", as key=value,key=value outside of files");
        }
        var values = new LinkedHashMap<String, Object>();
        entries.entries().forEach((name, entry) -> {
            Object value = convert(shape.value(), field, key + "." + name, entry);
            if (value != null) {
                values.put(name, value);
            }
        });
        return Collections.unmodifiableMap(values);
    }

    private @Nullable Object construct(Shape.Group group, String prefix, List<@Nullable Object> values,
            ConfigNode.@Nullable Entries entries) {
        try {
            var types = Arrays.stream(group.type().getRecordComponents())
                    .map(RecordComponent::getType)
                    .toArray(Class<?>[]::new);
            var constructor = group.type().getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor.newInstance(values.toArray());
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof ConfigException wrong) {
                String key = wrong.key().startsWith(prefix)
                        ? wrong.key()
                        : group.fields()
                                .stream()
                                .filter(field -> field.name().equals(wrong.key()))
                                .findFirst()
                                .map(field -> field.key(prefix))
                                .orElse(prefix + wrong.key());
                rejected(group, prefix, key, wrong.expected(), entries);
                return null;
            }
            throw new IllegalStateException(group.type().getName() + " failed on " + prefix, e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(group.type().getName() + " can't be constructed", e);
        }
    }

    private void rejected(Shape.Group group, String prefix, String key, String expected,
            ConfigNode.@Nullable Entries entries) {
        ConfigBinding.Effective at = effective.get(key);
        if (at != null) {
            refused(key, at.value().equals(MASK) ? MASK : quoted(at.value()), at.origin(), expected);
            return;
        }
        Origin place = entries == null ? null : entries.origin();
        group.fields()
                .stream()
                .filter(field -> key.equals(prefix + field.name()) && field.shape() instanceof Shape.Many)
                .filter(field -> entries == null || !entries.entries().containsKey(field.name()))
                .findFirst()
                .ifPresentOrElse(field -> missing(place, field, key, expected),
                        () -> error(place, key, "expected " + expected));
    }

    private void unknownKeys(List<Shape.Field> fields, String prefix, ConfigNode.@Nullable Entries entries) {
        if (entries == null) {
            return;
        }
        List<String> known = fields.stream().map(Shape.Field::name).toList();
        entries.entries().forEach((name, node) -> {
            if (!known.contains(name)) {
                Optional<String> nearest = NearestWord.to(name, known);
                error(node.origin(), prefix + name, "unknown key" + nearest
                        .map(near -> " (nearest: " + prefix + near + ")")
                        .orElse(" (expected: nothing here)"));
            }
        });
    }

    private void note(String key, Shape.Field field, @Nullable Object value, Origin origin) {
        if (value != null) {
            String text = field.secret() ? MASK : withoutCredentials(ScalarType.format(value));
            effective.put(key, new ConfigBinding.Effective(key, text, origin));
        }
    }

    private @Nullable Object refused(String key, String shown, Origin origin, String expected) {
        error(origin, key, shown + " (expected: " + expected + ")");
        return null;
    }

    private void error(@Nullable Origin origin, String key, String text) {
        Origin at = origin != null ? origin : file == null ? null : file.origin();
        errors.add((at == null ? "" : at + ": ") + key + ": " + text);
    }

    private static String quoted(String text) {
        return '"' + withoutCredentials(text) + '"';
    }

    /** Masks the user information of URLs. No key accepts it, but it is a secret wherever a user wrote it. */
    private static String withoutCredentials(String text) {
        return CREDENTIALS.matcher(text).replaceAll("://" + MASK + "@");
    }
}
