package dev.culvert.server.tunnel;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The instances that wait at this server. */
final class LocalWaitingInstances implements WaitingInstances {
    /** The priorities, in the order of arrival. */
    private final Map<UUID, Integer> priorities = new LinkedHashMap<>();

    @Override
    public boolean add(UUID instance, int priority) {
        if (!priorities.containsKey(instance) && priorities.size() >= MAX) {
            return false;
        }
        priorities.put(instance, priority);
        return true;
    }

    @Override
    public void remove(UUID instance) {
        priorities.remove(instance);
    }

    @Override
    public @Nullable UUID first() {
        UUID first = null;
        int highest = -1;
        for (Map.Entry<UUID, Integer> entry : priorities.entrySet()) {
            if (entry.getValue() > highest) {
                first = entry.getKey();
                highest = entry.getValue();
            }
        }
        return first;
    }
}
