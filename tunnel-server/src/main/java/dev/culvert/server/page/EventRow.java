package dev.culvert.server.page;

import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.server.tunnel.ServerEvent;
import java.time.Instant;

/**
 * An event, as a line of the list.
 *
 * @param at when it happened
 * @param word its kind
 * @param tone the style of its kind
 * @param runtime the runtime's name, or empty
 * @param text what happened, in words
 */
public record EventRow(Instant at, String word, String tone, String runtime, String text) {
    static EventRow of(ServerEvent event) {
        return switch (event) {
            case ServerEvent.OfTunnel tunnel -> new EventRow(tunnel.at(), tunnel.word(),
                    tone(tunnel.kind()), tunnel.runtime().toString(), text(tunnel));
            case ServerEvent.OfWebhook webhook -> new EventRow(webhook.at(), webhook.word(),
                    tone(webhook.event().kind()),
                    webhook.runtime() == null ? "" : webhook.runtime().toString(),
                    webhook.event().source() + (webhook.event().outcome().isEmpty()
                            ? ""
                            : ": " + webhook.event().outcome()) + ", " + webhook.event().attempts()
                            + " attempts, " + webhook.event().id());
            case ServerEvent.Stopping stopping ->
                new EventRow(stopping.at(), stopping.word(), "warn", "", "The server drains.");
        };
    }

    private static String text(ServerEvent.OfTunnel tunnel) {
        String cause = tunnel.cause() == null ? "" : tunnel.cause();
        String remote = tunnel.remote() == null ? "" : tunnel.remote();
        return cause.isEmpty() || remote.isEmpty() ? cause + remote : cause + ", " + remote;
    }

    private static String tone(ServerEvent.Kind kind) {
        return switch (kind) {
            case CONNECTED, PROMOTED -> "good";
            case DISCONNECTED, REVOKED, DELETED -> "bad";
            case CREATED, ENROLLED -> "";
            case DRAINING, TAKEN_OVER, WAITING, STOPPED_WAITING -> "warn";
        };
    }

    private static String tone(InboxEvent.Kind kind) {
        return switch (kind) {
            case DELIVERED -> "good";
            case FAILED -> "warn";
            case DEAD, DELETED -> "bad";
            case STORED, REPLAYED -> "";
        };
    }
}
