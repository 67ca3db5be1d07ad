package dev.culvert.platform.triggers.hermes;

import dev.culvert.platform.triggers.store.StoredEvent;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** A kind of event that may be created, as pushes to a registry of one provider. */
public interface EventKind {
    /** As {@code registry}. */
    String type();

    /** As {@code dockerhub}. */
    String kind();

    /** What it is, for people. */
    String summary();

    /** The values that name one event of this kind. */
    List<Value> values();

    /**
     * The URI of an event without its account, as {@code registry:dockerhub:ns:name:push}. Throws
     * IllegalArgumentException, which names the value and what was expected.
     *
     * @param given by the names of {@link #values}, each of which it has
     */
    String uri(Map<String, String> given, Instant now);

    /** What to enter at the provider; empty: nothing. */
    String help(String account);

    /** Whether whoever says that it happened must know a secret. */
    default boolean hasSecret() {
        return true;
    }

    /**
     * What a body tells that a provider sends, for an account. Throws HandlerException BAD_REQUEST; what has
     * no bodies throws IllegalArgumentException.
     *
     * @param name the name of the event, where the provider sends it beside the body; empty: it does not
     */
    default List<Happening> read(String account, String name, String body) {
        throw new IllegalArgumentException("original: an event of type " + type()
                + " has no body (expected: fields)");
    }

    /** Runs in the change that adds an event. */
    default void added(Connection change, StoredEvent event, Instant now) throws SQLException {}

    /** Runs in the change that removes an event. */
    default void removed(Connection change, StoredEvent event) throws SQLException {}

    /**
     * A value.
     *
     * @param pattern what it must match
     * @param expected the pattern in words
     */
    record Value(String name, String pattern, String expected) {}
}
