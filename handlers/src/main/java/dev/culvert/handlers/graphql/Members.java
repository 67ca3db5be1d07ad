package dev.culvert.handlers.graphql;

import graphql.schema.DataFetcher;
import graphql.schema.DataFetchingEnvironment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads a field of a result: an entry of a map or a component of a record. The record may be private. */
final class Members implements DataFetcher<Object> {
    private static final ClassValue<Map<String, Method>> ACCESSORS = new ClassValue<>() {
        @Override
        protected Map<String, Method> computeValue(Class<?> type) {
            Map<String, Method> accessors = new HashMap<>();
            RecordComponent[] components = type.getRecordComponents();
            for (RecordComponent component : components == null ? new RecordComponent[0] : components) {
                component.getAccessor().setAccessible(true);
                accessors.put(component.getName(), component.getAccessor());
            }
            return accessors;
        }
    };

    @Override
    public @Nullable Object get(DataFetchingEnvironment field) throws ReflectiveOperationException {
        Object source = field.getSource();
        String name = field.getFieldDefinition().getName();
        if (source instanceof Map<?, ?> map) {
            return map.get(name);
        }
        Method accessor = source == null ? null : ACCESSORS.get(source.getClass()).get(name);
        if (accessor == null) {
            throw new IllegalStateException("the answer has no member " + name);
        }
        try {
            return accessor.invoke(source);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException("member " + name + " failed", e.getCause());
        }
    }
}
