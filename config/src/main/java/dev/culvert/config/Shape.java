package dev.culvert.config;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The required shape of a configuration, derived once from its records. */
sealed interface Shape {
    /** Describes the accepted values. */
    String accepts();

    /** Whether one text, for example of a flag, can hold the value. */
    default boolean flat() {
        return true;
    }

    /** A scalar. */
    record One(Class<?> type) implements Shape {
        @Override
        public String accepts() {
            return ScalarType.accepts(type);
        }
    }

    /** A list of values of the same shape. */
    record Many(Shape element) implements Shape {
        @Override
        public String accepts() {
            return element instanceof One ? "a list: " + element.accepts() : "a list";
        }

        @Override
        public boolean flat() {
            return element instanceof One;
        }
    }

    /** A map of arbitrary keys to values of the same shape. */
    record Keyed(Shape value) implements Shape {
        @Override
        public String accepts() {
            return value instanceof One ? "keys, each with " + value.accepts() : "keys with values";
        }

        @Override
        public boolean flat() {
            return value instanceof One || (value instanceof Many many && many.flat());
        }
    }

    /** Keys whose record is known later. */
    record Section() implements Shape {
        @Override
        public String accepts() {
            return "keys";
        }

        @Override
        public boolean flat() {
            return false;
        }
    }

    /** A record. */
    record Group(Class<?> type, List<Field> fields) implements Shape {
        @Override
        public String accepts() {
            return fields.isEmpty()
                    ? "nothing below it ({})"
                    : "the keys " + String.join(", ", fields.stream().map(Field::name).toList());
        }

        @Override
        public boolean flat() {
            return false;
        }
    }

    /**
     * A component of a record.
     *
     * @param setting the description, or null for a group that needs none
     * @param optional whether null means "absent"
     */
    record Field(String name, Shape shape, @Nullable Setting setting, boolean optional) {
        /** The dotted key of this component, whose record's key and a dot are {@code prefix}. */
        String key(String prefix) {
            return shorthand() ? prefix.substring(0, prefix.length() - 1) : prefix + name;
        }

        boolean shorthand() {
            return setting != null && setting.shorthand();
        }

        String byDefault() {
            return setting == null ? "" : setting.byDefault();
        }

        String accepts() {
            return setting == null || setting.accepts().isEmpty() ? shape.accepts() : setting.accepts();
        }

        boolean secret() {
            return setting != null && setting.secret();
        }

        /** Whether a flag and a variable can set it. */
        boolean settableByText() {
            return shape.flat() && (setting == null || !setting.fileOnly());
        }
    }

    /**
     * The shape of a record type. Throws IllegalArgumentException for a component type that configuration
     * can't hold.
     */
    static Group group(Class<?> type) {
        var fields = Arrays.stream(type.getRecordComponents()).map(Shape::field).toList();
        return new Group(type, fields);
    }

    private static Field field(RecordComponent component) {
        boolean optional = nullable(component) || nullable(component.getAnnotatedType());
        Setting setting = component.getAnnotation(Setting.class);
        String key = setting == null || setting.key().isEmpty() ? component.getName() : setting.key();
        return new Field(key, of(component.getGenericType(), component), setting, optional);
    }

    private static boolean nullable(AnnotatedElement element) {
        return element.isAnnotationPresent(Nullable.class);
    }

    private static Shape of(Type type, RecordComponent component) {
        if (type instanceof ParameterizedType generic && generic.getRawType() == List.class) {
            return new Many(of(generic.getActualTypeArguments()[0], component));
        }
        if (type instanceof ParameterizedType generic && generic.getRawType() == Map.class) {
            return new Keyed(of(generic.getActualTypeArguments()[1], component));
        }
        if (type == ConfigSection.class) {
            return new Section();
        }
        if (type instanceof Class<?> plain && plain.isRecord() && !ScalarType.handles(plain)) {
            return group(plain);
        }
        if (type instanceof Class<?> plain && ScalarType.handles(plain)) {
            return new One(plain);
        }
        throw new IllegalArgumentException(component + ": configuration can't hold a " + type.getTypeName());
    }
}
