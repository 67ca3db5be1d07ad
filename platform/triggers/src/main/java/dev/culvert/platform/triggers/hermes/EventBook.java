package dev.culvert.platform.triggers.hermes;

import dev.culvert.platform.host.spi.AccountEnds;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.PipelineRuns;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.triggers.store.EventTable;
import dev.culvert.platform.triggers.store.StoredEvent;
import dev.culvert.platform.triggers.store.StoredTrigger;
import dev.culvert.platform.triggers.store.TriggerTable;
import dev.culvert.store.Rows;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Creates and deletes events, and links pipelines to them. Errors: {@link StoreException}. */
public final class EventBook {
    static final int MAX_EVENTS = 1_000;
    static final int MAX_TRIGGERS = 10_000;
    static final int MAX_OF_EVENT = 100;
    private static final int MIN_SECRET = 8;
    private static final int MAX_SECRET = 256;
    private static final int MAX_PIPELINE = 256;
    private static final String GENERATE = "!generate";
    private static final List<String> TABLES = List.of("triggers_event", "triggers_trigger",
            "triggers_delivery", "triggers_run", "triggers_refusal", "triggers_clock");

    private final Store store;
    private final Events feed;
    private final PipelineRuns pipelines;
    private final EventSecrets secrets;
    private final Map<String, EventKind> kinds = new TreeMap<>();
    private final Clock clock;

    public EventBook(Store store, Events feed, PipelineRuns pipelines, EventSecrets secrets,
            List<EventKind> kinds, Clock clock) {
        this.store = store;
        this.feed = feed;
        this.pipelines = pipelines;
        this.secrets = secrets;
        this.clock = clock;
        kinds.forEach(kind -> this.kinds.put(kind.type() + ":" + kind.kind(), kind));
    }

    /** Deletes all of an account when it ends. */
    public void follow(AccountEnds ends) {
        ends.add((change, account) -> {
            for (String table : TABLES) {
                Rows.update(change, "DELETE FROM " + table + " WHERE account = ?", account);
            }
        });
    }

    /** All kinds of events, by type and kind. */
    List<EventKind> kinds() {
        return List.copyOf(kinds.values());
    }

    /** Throws StoreException.Absent. */
    EventKind kind(String type, String kind) {
        EventKind found = kinds.get(type + ":" + kind);
        if (found == null) {
            throw new StoreException.Absent("there is no event of type " + shown(type) + " and kind "
                    + shown(kind) + " (expected: one of " + kinds.keySet() + ")");
        }
        return found;
    }

    /** An event that was created, and its secret, which is shown this once; null: it has none. */
    record Created(StoredEvent event, @Nullable String secret) {
        /** Without the secret. */
        @Override
        public String toString() {
            return event.uri();
        }
    }

    /**
     * Creates an event.
     *
     * @param secret a text, or {@code !generate}; null: as if it were that
     */
    Mono<Created> create(String account, String type, String kindName, @Nullable String secret,
            Map<String, String> values) {
        return Mono.defer(() -> {
            EventKind kind = kindOf(type, kindName);
            Instant now = clock.instant();
            String uri = EventUri.of(kind.uri(required(kind, values), now), account);
            if (uri.length() > EventUri.MAX_CHARS) {
                throw new IllegalArgumentException("values: a URI of " + uri.length()
                        + " characters (expected: at most " + EventUri.MAX_CHARS + ")");
            }
            String text = kind.hasSecret() ? secret(secret) : "";
            return (text.isEmpty() ? Mono.just("") : secrets.wrap(uri, text))
                    .map(wrapped -> new StoredEvent(uri, account, type, kindName, kind.summary(), wrapped,
                            now.toEpochMilli()))
                    .flatMap(event -> store.change(account, connection -> {
                        add(connection, kind, event, now);
                        return new Created(event, text.isEmpty() ? null : text);
                    }));
        });
    }

    private EventKind kindOf(String type, String kind) {
        try {
            return kind(type, kind);
        } catch (StoreException.Absent absent) {
            throw new IllegalArgumentException("type and kind: " + absent.getMessage(), absent);
        }
    }

    private static Map<String, String> required(EventKind kind, Map<String, String> given) {
        List<String> names = kind.values().stream().map(EventKind.Value::name).toList();
        given.keySet().stream().filter(name -> !names.contains(name)).findFirst().ifPresent(unknown -> {
            throw new IllegalArgumentException("values." + shown(unknown) + ": unknown value (expected: "
                    + new TreeSet<>(names) + ")");
        });
        Map<String, String> values = new HashMap<>();
        for (EventKind.Value value : kind.values()) {
            String text = given.getOrDefault(value.name(), "");
            if (!text.matches(value.pattern())) {
                throw new IllegalArgumentException("values." + value.name() + ": "
                        + (text.isEmpty() ? "missing" : shown(text)) + " (expected: " + value.expected()
                        + ")");
            }
            values.put(value.name(), text);
        }
        return values;
    }

    private static String secret(@Nullable String given) {
        if (given == null || given.equals(GENERATE)) {
            return EventSecrets.generate();
        }
        if (given.length() < MIN_SECRET || given.length() > MAX_SECRET || given.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "secret: a text of " + given.length() + " characters (expected: "
                            + MIN_SECRET + " to " + MAX_SECRET + ", or " + GENERATE + ")");
        }
        return given;
    }

    private void add(Connection change, EventKind kind, StoredEvent event, Instant now) throws SQLException {
        if (EventTable.find(change, event.uri()) != null) {
            throw new StoreException.Conflict(
                    "the event " + event.uri() + " exists (expected: another one, or"
                            + " delete it first)");
        }
        if (EventTable.count(change, event.account()) >= MAX_EVENTS) {
            throw new StoreException.Full("the account has " + MAX_EVENTS + " events, which is the most");
        }
        EventTable.add(change, event);
        kind.added(change, event, now);
        feed.add(change, event.account(), "event", event.uri());
    }

    /** Deletes an event that no pipeline is linked to. */
    Mono<Boolean> delete(String account, String uri) {
        return store.change(account, connection -> {
            StoredEvent event = require(connection, account, uri);
            List<StoredTrigger> linked = TriggerTable.of(connection, account, uri);
            if (!linked.isEmpty()) {
                throw new StoreException.Conflict("the event starts pipelines (expected: delete its triggers"
                        + " first: " + linked.stream()
                                .limit(5)
                                .map(StoredTrigger::pipeline)
                                .collect(Collectors.joining(", "))
                        + ")");
            }
            EventTable.remove(connection, uri);
            EventKind kind = kinds.get(event.type() + ":" + event.kind());
            if (kind != null) {
                kind.removed(connection, event);
            }
            feed.add(connection, account, "event", uri);
            return true;
        });
    }

    /** Links a pipeline to an event, or replaces the link's filters. */
    Mono<StoredTrigger> link(String account, String uri, String pipeline, Map<String, String> filters) {
        return Mono.defer(() -> {
            requireName(pipeline);
            var trigger = new StoredTrigger(account, uri, pipeline, Filters.of(filters).json());
            return pipelines.require(account, pipeline).then(store.change(account, connection -> {
                require(connection, account, uri);
                if (TriggerTable.find(connection, account, uri, pipeline) == null) {
                    requireRoom(connection, account, uri);
                }
                TriggerTable.put(connection, trigger, clock.millis());
                feed.add(connection, account, "trigger", uri);
                return trigger;
            }));
        });
    }

    private static void requireName(String pipeline) {
        if (pipeline.isEmpty() || pipeline.length() > MAX_PIPELINE || !pipeline.matches("[!-~ ]+")) {
            throw new IllegalArgumentException("pipeline: " + shown(pipeline) + " (expected: a name, as"
                    + " project/name, in ASCII and at most " + MAX_PIPELINE + " characters)");
        }
    }

    private static void requireRoom(Connection change, String account, String uri) throws SQLException {
        if (TriggerTable.count(change, account, uri) >= MAX_OF_EVENT) {
            throw new StoreException.Full(
                    "the event starts " + MAX_OF_EVENT + " pipelines, which is the most");
        }
        if (TriggerTable.count(change, account) >= MAX_TRIGGERS) {
            throw new StoreException.Full("the account has " + MAX_TRIGGERS + " triggers, which is the most");
        }
    }

    /** Ends a link. */
    Mono<Boolean> unlink(String account, String uri, String pipeline) {
        return store.change(account, connection -> {
            if (!TriggerTable.remove(connection, account, uri, pipeline)) {
                throw new StoreException.Absent("the event does not start this pipeline");
            }
            feed.add(connection, account, "trigger", uri);
            return true;
        });
    }

    /** Throws StoreException.Absent. */
    static StoredEvent require(Connection connection, String account, String uri) throws SQLException {
        StoredEvent event = EventTable.find(connection, account, uri);
        if (event == null) {
            throw new StoreException.Absent("there is no such event");
        }
        return event;
    }

    private static String shown(String text) {
        return text.length() > 60 ? text.substring(0, 60) + "…" : text;
    }
}
