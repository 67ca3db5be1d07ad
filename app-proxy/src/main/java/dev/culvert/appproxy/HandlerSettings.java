package dev.culvert.appproxy;

import dev.culvert.appproxy.AppProxyConfig.Handlers;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads {@link Handlers} by reflection: each component is one handler. */
final class HandlerSettings {
    private static final RecordComponent[] COMPONENTS = Handlers.class.getRecordComponents();

    private HandlerSettings() {}

    static SortedMap<String, Record> served(Handlers handlers) {
        SortedMap<String, Record> served = new TreeMap<>();
        for (RecordComponent component : COMPONENTS) {
            Record settings = value(component, handlers);
            if (settings != null) {
                served.put(component.getName(), settings);
            }
        }
        if (served.isEmpty()) {
            served.put(InfoProvider.NAME, new AppProxyConfig.Info());
        }
        return served;
    }

    static Handlers placed(List<? extends Record> settings) {
        List<Record> left = new ArrayList<>(settings);
        @Nullable
        Object[] values = new @Nullable Object[COMPONENTS.length];
        for (int i = 0; i < COMPONENTS.length; i++) {
            Class<?> type = COMPONENTS[i].getType();
            values[i] = left.stream().filter(type::isInstance).findFirst().orElse(null);
            left.remove(values[i]);
        }
        if (!left.isEmpty()) {
            throw new IllegalArgumentException("no handler has these settings, or has them twice: " + left);
        }
        try {
            Class<?>[] types = Arrays.stream(COMPONENTS)
                    .map(RecordComponent::getType)
                    .toArray(Class<?>[]::new);
            return Handlers.class.getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the constructor of a record is there", e);
        }
    }

    private static @Nullable Record value(RecordComponent component, Handlers handlers) {
        try {
            return (Record) component.getAccessor().invoke(handlers);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the accessor of a record is there", e);
        }
    }
}
