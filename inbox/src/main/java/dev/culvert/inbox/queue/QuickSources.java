package dev.culvert.inbox.queue;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The event sources whose last attempt was fast, the most recent ones. Other sources are new, slow or long
 * unused, and may not use all slots of their runtime. Belongs to the dispatcher's thread.
 */
final class QuickSources {
    /** The duration from which an attempt is slow. */
    static final long SLOW_MILLIS = 2000;
    /** The maximum number of names. A removed source loses only a share of its runtime's slots. */
    private static final int MAX = 10_000;

    private final Map<String, Boolean> names = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MAX;
        }
    };

    /** Records the duration of an attempt that ended with a response or its time-out. */
    void took(String name, long millis) {
        if (millis < SLOW_MILLIS) {
            names.put(name, true);
        } else {
            names.remove(name);
        }
    }

    boolean contains(String name) {
        return names.get(name) != null;
    }

    int size() {
        return names.size();
    }
}
