package dev.culvert.inbox.queue;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The event sources whose last attempt was quick, the latest ones. A source that is not among them is new, slow or long
 * forgotten, and may not use all slots of its runtime. Of the dispatcher's thread.
 */
final class QuickSources {
    /** An attempt that takes longer is slow. */
    static final long SLOW_MILLIS = 2000;
    /** Names that are remembered: forgetting one costs its source no more than a share of its runtime's slots. */
    private static final int MAX = 10_000;

    private final Map<String, Boolean> names = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MAX;
        }
    };

    /** An attempt of the source has ended with an answer, or too late. */
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
