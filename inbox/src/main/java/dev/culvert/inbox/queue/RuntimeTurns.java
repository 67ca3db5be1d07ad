package dev.culvert.inbox.queue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The runtimes that may have something to send: those with the fewest attempts under way first, and equals in turn. So a
 * runtime whose attempts take long does not get more slots than one whose attempts are quick. Of the dispatcher's thread.
 */
final class RuntimeTurns {
    /** By attempts under way. */
    private final List<LinkedHashSet<RuntimeQueue>> byFlying = new ArrayList<>();

    /** @param most attempts of one runtime at once */
    RuntimeTurns(int most) {
        for (int flying = 0; flying <= most; flying++) {
            byFlying.add(new LinkedHashSet<>());
        }
    }

    void add(RuntimeQueue runtime) {
        runtime.queued = true;
        byFlying.get(runtime.flying).add(runtime);
    }

    /** Takes a runtime out, before its number of attempts changes. */
    void remove(RuntimeQueue runtime) {
        if (runtime.queued) {
            runtime.queued = false;
            byFlying.get(runtime.flying).remove(runtime);
        }
    }

    /** The runtime that is next, if it has fewer than {@code below} attempts under way, taken out; null: none has. */
    @Nullable
    RuntimeQueue poll(int below) {
        for (LinkedHashSet<RuntimeQueue> equals : byFlying.subList(0, below)) {
            if (!equals.isEmpty()) {
                RuntimeQueue next = equals.removeFirst();
                next.queued = false;
                return next;
            }
        }
        return null;
    }

    void clear() {
        byFlying.forEach(LinkedHashSet::clear);
    }
}
