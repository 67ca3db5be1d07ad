package dev.culvert.server.tunnel;

import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.server.runtime.RuntimeName;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Something that operators may watch as it happens: {@code GET /api/v1/events}. */
public sealed interface ServerEvent {
    /** When it happened. */
    Instant at();

    /** Its kind, as the stream's {@code event} field says it; more kinds may come. */
    String word();

    /** What may happen to the tunnel of a runtime. */
    enum Kind {
        /** A session was opened. */
        CONNECTED,
        /** A session is over. */
        DISCONNECTED,
        /** A session is told to go; the client dials again. */
        DRAINING,
        /** Another instance became the owner. */
        TAKEN_OVER,
        /** Another instance with the same identity was refused, and looks again from time to time. */
        WAITING,
        /** All certificates and tokens became worthless. */
        REVOKED,
        /** The runtime is no more. */
        DELETED
    }

    /**
     * Of a runtime's tunnel.
     *
     * @param session the session's id; null for what is not about one
     * @param generation the session's, or the owner's; 0 when there is none
     * @param remote the client's address and port; null when no client is meant
     * @param cause why, for people; null when there is nothing to say
     */
    record OfTunnel(Instant at, Kind kind, RuntimeName runtime, @Nullable String session, long generation,
            @Nullable String remote, @Nullable String cause) implements ServerEvent {
        @Override
        public String word() {
            return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Of a webhook.
     *
     * @param runtime null when it was deleted meanwhile
     */
    record OfWebhook(Instant at, @Nullable RuntimeName runtime, InboxEvent event) implements ServerEvent {
        @Override
        public String word() {
            return event.kind().word();
        }
    }

    /** The server stops: the stream's last event but for what happens to tunnels meanwhile. */
    record Stopping(Instant at) implements ServerEvent {
        @Override
        public String word() {
            return "stopping";
        }
    }
}
