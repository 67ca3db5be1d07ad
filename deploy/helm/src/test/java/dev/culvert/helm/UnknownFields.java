package dev.culvert.helm;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Finds fields of a Kubernetes object that its type does not have: the library keeps them silently. */
final class UnknownFields {
    private final List<String> found = new ArrayList<>();

    private UnknownFields() {}

    static List<String> of(Object object) {
        var fields = new UnknownFields();
        fields.visit("", object);
        return fields.found;
    }

    private void visit(String path, @Nullable Object value) {
        switch (value) {
            case null -> {
                // Left out.
            }
            case List<?> list -> list.forEach(item -> visit(path + "[]", item));
            case Map<?, ?> map -> map.forEach((key, item) -> visit(path + "." + key, item));
            default -> {
                if (value.getClass().getName().startsWith("io.fabric8.")) {
                    fields(path, value);
                }
            }
        }
    }

    private void fields(String path, Object value) {
        for (Method method : value.getClass().getMethods()) {
            String name = method.getName();
            if (method.getParameterCount() > 0 || !name.startsWith("get") || method.isSynthetic()) {
                continue;
            }
            Object field = call(method, value);
            if (name.equals("getAdditionalProperties")) {
                ((Map<?, ?>) Objects.requireNonNull(field)).keySet()
                        .forEach(key -> found.add(path + "." + key));
            } else {
                visit(path + "." + name.substring("get".length()), field);
            }
        }
    }

    private static @Nullable Object call(Method method, Object value) {
        try {
            return method.invoke(value);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(method.toString(), e);
        }
    }
}
