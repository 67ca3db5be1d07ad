package dev.culvert.server.tunnel;

import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.server.runtime.RuntimeName;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** An event in the stream for operators: {@code GET /api/v1/events}. */
public sealed interface ServerEvent {
    /** The time of the event. */
    Instant at();

    /** The kind of the event, as in the stream's {@code event} field. Later versions may add kinds. */
    String word();

    /** The kinds of events of a runtime's tunnel. */
    enum Kind {
        /** The runtime was created. */
        CREATED,
        /** A client got a certificate with an enrolment token. */
        ENROLLED,
        /** A session was opened. */
        CONNECTED,
        /** A session was closed. */
        DISCONNECTED,
        /** A session drains; its client connects again. */
        DRAINING,
        /** Another instance became the owner. */
        TAKEN_OVER,
        /** Another instance with the same identity waits, or was refused and tries again later. */
        WAITING,
        /** An instance that waited owns the runtime now. */
        PROMOTED,
        /** An instance waits no more, without having been promoted. */
        STOPPED_WAITING,
        /** All certificates and tokens of the runtime were revoked. */
        REVOKED,
        /** The runtime was deleted. */
        DELETED
    }

    /**
     * An event of a runtime's tunnel.
     *
     * @param session the session's id; null when the event concerns no single session
     * @param generation the generation of the session or of the owner; 0 when there is none
     * @param remote the client's address and port; null when the event concerns no client
     * @param cause the reason, for people; null when there is none
     */
    record OfTunnel(Instant at, Kind kind, RuntimeName runtime, @Nullable String session, long generation,
            @Nullable String remote, @Nullable String cause) implements ServerEvent {
        @Override
        public String word() {
            return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * An event of a webhook.
     *
     * @param runtime the webhook's runtime; null when it was deleted meanwhile
     */
    record OfWebhook(Instant at, @Nullable RuntimeName runtime, InboxEvent event) implements ServerEvent {
        @Override
        public String word() {
            return event.kind().word();
        }
    }

    /** The server stops. Only events of tunnels follow. */
    record Stopping(Instant at) implements ServerEvent {
        @Override
        public String word() {
            return "stopping";
        }
    }
}
