package dev.culvert.platform.triggers.hermes;

import dev.culvert.platform.triggers.store.StoredTrigger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which triggers something that happened starts. Filters are tried before the transaction, and in it only
 * those that have changed since. Confined to one thread at a time.
 */
final class Judgement {
    private final Happening happening;
    /** Why a trigger starts nothing; empty: it starts. */
    private final Map<StoredTrigger, String> known = new HashMap<>();

    Judgement(Happening happening, List<StoredTrigger> triggers) {
        this.happening = happening;
        triggers.forEach(this::refusal);
    }

    /** Those that start. */
    List<StoredTrigger> started(List<StoredTrigger> triggers) {
        return triggers.stream().filter(trigger -> refusal(trigger).isEmpty()).toList();
    }

    /** Why the others do not, one line each. */
    List<String> refusals(List<StoredTrigger> triggers) {
        if (triggers.isEmpty()) {
            return List.of("no pipeline is linked to the event");
        }
        List<String> lines = new ArrayList<>();
        for (StoredTrigger trigger : triggers) {
            String why = refusal(trigger);
            if (!why.isEmpty()) {
                lines.add(trigger.pipeline() + ": " + why);
            }
        }
        return lines;
    }

    private String refusal(StoredTrigger trigger) {
        return known.computeIfAbsent(trigger, absent -> {
            String whyNot = happening.whyNot();
            @Nullable
            String why = whyNot != null
                    ? whyNot
                    : Filters.parse(absent.filters()).refusal(happening.fields());
            return why == null ? "" : why;
        });
    }
}
