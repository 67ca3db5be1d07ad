package dev.culvert.inbox.queue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The runtimes that may have a webhook to send: those with the fewest attempts in progress first, and equal
 * ones in turn. So a runtime with slow attempts gets no more slots than one with fast attempts. Belongs to
 * the dispatcher's thread.
 */
final class RuntimeTurns {
    /** The runtimes by their number of attempts in progress. */
    private final List<LinkedHashSet<RuntimeQueue>> byFlying = new ArrayList<>();

    /** @param most the maximum number of concurrent attempts of one runtime */
    RuntimeTurns(int most) {
        for (int flying = 0; flying <= most; flying++) {
            byFlying.add(new LinkedHashSet<>());
        }
    }

    void add(RuntimeQueue runtime) {
        runtime.queued = true;
        byFlying.get(runtime.flying).add(runtime);
    }

    /** Removes a runtime, before its number of attempts changes. */
    void remove(RuntimeQueue runtime) {
        if (runtime.queued) {
            runtime.queued = false;
            byFlying.get(runtime.flying).remove(runtime);
        }
    }

    /**
     * Removes and returns the next runtime, if it has fewer than {@code below} attempts in progress; null:
     * none has.
     */
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
