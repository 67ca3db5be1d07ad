package dev.culvert.server.runtime;

import java.time.Instant;
import java.util.Locale;

/**
 * A snapshot of a client that waits because another instance with the same identity serves its runtime: a
 * second replica, or a client that was replaced and not stopped.
 *
 * @param remote its address and port, at its last attempt
 * @param version its version
 * @param since the start of its waiting, or the first of its consecutive attempts
 * @param seen its last attempt; now for one that holds a session
 * @param state how it waits
 * @param priority the priority of its promotion; 0 for one that was refused
 */
public record WaitingClient(String remote, String version, Instant since, Instant seen, State state,
        int priority) {
    /** How a client waits. */
    public enum State {
        /** It holds a session that waits, and is promoted when the owner goes. */
        WAITING,
        /** It is being promoted. */
        PROMOTED,
        /** It holds no session and asks again from time to time. */
        REFUSED;

        /** The state in a word, for people and the API. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
