package dev.culvert.platform.triggers.hermes;

import dev.culvert.platform.triggers.store.StoredEvent;
import dev.culvert.platform.triggers.store.StoredRefusal;
import dev.culvert.platform.triggers.store.StoredRun;
import dev.culvert.platform.triggers.store.StoredTrigger;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the calls take and give. */
final class Views {
    private Views() {}

    /** A kind of event. */
    record Type(String type, String kind, String description, boolean secret, List<Value> values) {
        static Type of(EventKind kind) {
            return new Type(kind.type(), kind.kind(), kind.summary(), kind.hasSecret(), kind.values()
                    .stream()
                    .map(value -> new Value(value.name(), value.expected()))
                    .toList());
        }
    }

    /** A value that names an event. */
    record Value(String name, String expected) {}

    /** The body that creates an event. */
    record NewEvent(String type, String kind, @Nullable String secret, @Nullable Map<String, String> values) {
        /** Without the secret. */
        @Override
        public String toString() {
            return type + ":" + kind;
        }
    }

    /** An event; its secret is shown when it is created. */
    record Event(String uri, String type, String kind, String description, String help, long created) {
        static Event of(StoredEvent event, String help) {
            return new Event(event.uri(), event.type(), event.kind(), event.details(), help, event.created());
        }
    }

    /** A created event. */
    record Created(String uri, String type, String kind, String description, String help, long created,
            @Nullable String secret) {
        static Created of(EventBook.Created made, String help) {
            StoredEvent event = made.event();
            return new Created(event.uri(), event.type(), event.kind(), event.details(), help,
                    event.created(), made.secret());
        }

        /** Without the secret. */
        @Override
        public String toString() {
            return uri;
        }
    }

    /** The body of a link. */
    record Link(@Nullable Map<String, String> filters) {}

    /** A link. */
    record Trigger(String event, String pipeline, Map<String, String> filters) {
        static Trigger of(StoredTrigger trigger) {
            return new Trigger(trigger.event(), trigger.pipeline(), Filters.texts(trigger.filters()));
        }
    }

    /** The body that says that something happened. */
    record Happened(String secret, @Nullable String original, @Nullable Map<String, String> variables) {
        /** Without the secret. */
        @Override
        public String toString() {
            return "***";
        }
    }

    /** A run that it starts. */
    record Started(String id, String pipeline, @Nullable String error) {}

    /** A run. */
    record Run(String id, String event, String pipeline, String state, @Nullable String build,
            @Nullable String why, long created, @Nullable Map<String, String> variables) {
        static Run of(StoredRun run) {
            return of(run, Variables.parse(run.variables()));
        }

        /** Without its variables, which may be large. */
        static Run listed(StoredRun run) {
            return of(run, null);
        }

        private static Run of(StoredRun run, @Nullable Map<String, String> variables) {
            return new Run(run.id(), run.event(), run.pipeline(), run.state().name().toLowerCase(Locale.ROOT),
                    run.build(), run.why(), run.created(), variables);
        }
    }

    /** What happened and started nothing. */
    record Refusal(String id, String event, List<String> why, long created) {
        static Refusal of(StoredRefusal refusal) {
            return new Refusal(refusal.id(), refusal.event(), refusal.why().lines().toList(),
                    refusal.created());
        }
    }

    /** The body of a question what would start. */
    record Question(String event, @Nullable String name, @Nullable String original,
            @Nullable Map<String, String> fields) {}

    /** What one trigger would do. */
    record Answer(String pipeline, boolean starts, @Nullable String why) {}
}
