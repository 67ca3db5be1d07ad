package dev.culvert.http.observe;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import java.util.Map;

/** The {@code # HELP} line of each meter of the gateway's own, as docs/operations.md describes it; wherever it is made. */
final class MeterTexts implements MeterFilter {
    private static final Map<String, String> TEXTS = Map.ofEntries(
            Map.entry("culvert.edge.requests",
                    "Requests that ended, from the head, once read, to the last byte of the answer."),
            Map.entry("culvert.edge.active.requests", "Requests that have begun and not ended."),
            Map.entry("culvert.tunnels", "Runtimes with a session; at a client 1 or 0."),
            Map.entry("culvert.tunnel.streams", "Streams open in all sessions."),
            Map.entry("culvert.tunnel", "Bytes of frames, without WebSocket and TLS."),
            Map.entry("culvert.tunnel.rtt",
                    "Last heartbeats: the longest of a server's sessions, the shortest of a client's."),
            Map.entry("culvert.tunnel.reconnects",
                    "At a client, sessions that were lost; at a server, tunnels that came back."),
            Map.entry("culvert.client.paused", "Whether an operator has paused this client: 1 or 0."),
            Map.entry("culvert.held.requests", "Requests that wait for their runtime's tunnel to come back."),
            Map.entry("culvert.buffered",
                    "Bytes queued to send, and bytes received that no reader has taken yet."),
            Map.entry("culvert.certificate.not.after",
                    "When the first of a listener's certificates ends, in seconds since 1970."),
            Map.entry("culvert.problems", "Problems answered."),
            Map.entry("culvert.handler",
                    "Calls of a handler that ended, with their response's last byte or a field's answer."),
            Map.entry("culvert.handler.rejected",
                    "Calls refused because too many of the handler's were in progress."),
            Map.entry("culvert.handler.active", "Calls of a handler in progress."),
            Map.entry("culvert.handler.busy.threads", "Threads of a handler that run its code."),
            Map.entry("culvert.handler.healthy", "Whether a handler does its work: 1 or 0."),
            Map.entry("culvert.git.tokens.unreadable", "Git tokens that no key fits: kept, and not used."),
            Map.entry("culvert.handshakes", "TLS handshakes under way."),
            Map.entry("culvert.accept.pauses", "Times that a listener stopped accepting for a while."),
            Map.entry("culvert.connections.refused", "Connections closed because there were too many."),
            Map.entry("culvert.edge.http2.errors", "HTTP/2 connections of callers that ended with an error."),
            Map.entry("culvert.memory.budget",
                    "Bytes of callers' bodies: held (used), and that may be held (max)."),
            Map.entry("culvert.runtime", "Bytes of callers' bodies."),
            Map.entry("culvert.runtime.refused", "Requests refused, by the limit that they met."),
            Map.entry("culvert.memory.refused",
                    "Connections that ended because direct memory could not be had."),
            Map.entry("culvert.access.log.dropped",
                    "Lines of the access log that were dropped, as its queue was full."),
            Map.entry("culvert.tcp.connections", "Raw connections that are passed through."),
            Map.entry("culvert.upstream.connections",
                    "Connections to upstreams, those being made included."),
            Map.entry("culvert.upstream.ejected",
                    "Addresses of upstreams that are left out because they failed."),
            Map.entry("culvert.tunnel.openings", "Sessions that are being opened."),
            Map.entry("culvert.renewals.refused", "Renewals of a key that another key had renewed before."),
            Map.entry("culvert.webhooks", "Webhooks in the inbox, by what became of them."),
            Map.entry("culvert.webhook.delivery", "Time from storing a webhook to its delivery."),
            Map.entry("culvert.inbox.commit", "Time of a transaction of the inbox, its fsync included."),
            Map.entry("culvert.inbox.batch", "Changes that one transaction of the inbox made."),
            Map.entry("culvert.inbox.queued", "Changes that wait for the inbox's next transaction."),
            Map.entry("culvert.inbox.memory", "Memory of webhooks that are being taken in."),
            Map.entry("culvert.inbox.refused", "Webhooks that were not stored, by reason."));

    @Override
    public Meter.Id map(Meter.Id id) {
        String text = id.getDescription() == null ? TEXTS.get(id.getName()) : null;
        return text == null
                ? id
                : new Meter.Id(id.getName(), Tags.of(id.getTagsAsIterable()), id.getBaseUnit(), text,
                        id.getType());
    }
}
