package dev.culvert.http.observe;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import java.util.Map;

/**
 * Adds the {@code # HELP} text to each of the gateway's own meters, in all modules. docs/operations.md
 * describes them.
 */
final class MeterTexts implements MeterFilter {
    private static final Map<String, String> TEXTS = Map.ofEntries(
            Map.entry("culvert.edge.requests",
                    "Requests that ended, from the complete request head to the last byte of the response."),
            Map.entry("culvert.edge.active.requests", "Requests that have begun and not ended."),
            Map.entry("culvert.tunnels", "Runtimes with a session; at a client 1 or 0."),
            Map.entry("culvert.tunnel.streams", "Streams open in all sessions."),
            Map.entry("culvert.tunnel", "Bytes of frames, without WebSocket and TLS."),
            Map.entry("culvert.tunnels.waiting",
                    "Sessions of instances that wait while another one owns their runtime."),
            Map.entry("culvert.tunnel.promotions",
                    "Instances that waited and were promoted, by whether they answered in time."),
            Map.entry("culvert.tunnel.rtt",
                    "Round trip of the last heartbeat: a server's longest session, a client's shortest."),
            Map.entry("culvert.tunnel.reconnects",
                    "At a client, lost sessions; at a server, tunnels that were re-established."),
            Map.entry("culvert.client.paused", "Whether an operator has paused this client: 1 or 0."),
            Map.entry("culvert.held.requests", "Requests that wait for their runtime's tunnel to reconnect."),
            Map.entry("culvert.buffered",
                    "Bytes queued to send, and bytes received that no reader has taken yet."),
            Map.entry("culvert.certificate.not.after",
                    "Earliest expiry of a listener's certificates, in seconds since 1970."),
            Map.entry("culvert.problems", "Problems answered."),
            Map.entry("culvert.upstream.requests", "Requests to upstreams, by what became of them."),
            Map.entry("culvert.handler",
                    "Calls of a handler that ended with the last byte of a response or with the result of a field."),
            Map.entry("culvert.handler.rejected",
                    "Calls refused because too many of the handler's were in progress."),
            Map.entry("culvert.handler.active", "Calls of a handler in progress."),
            Map.entry("culvert.handler.busy.threads", "Threads of a handler that run its code."),
            Map.entry("culvert.handler.healthy", "Whether a handler is healthy: 1 or 0."),
            Map.entry("culvert.outbox.messages", "Changes that another part has not received yet."),
            Map.entry("culvert.outbox.deliveries", "Attempts to deliver changes to other parts."),
            Map.entry("culvert.git.tokens.unreadable",
                    "Git tokens that no key can decrypt; they are kept but not used."),
            Map.entry("culvert.tls.handshakes",
                    "TLS handshakes that succeeded, by link, version and key exchange group."),
            Map.entry("culvert.tls.refused",
                    "TLS handshakes that failed because the peer has no post-quantum key exchange."),
            Map.entry("culvert.handshakes", "TLS handshakes in progress."),
            Map.entry("culvert.accept.pauses", "Times that a listener paused accepting."),
            Map.entry("culvert.connections.refused",
                    "Connections closed because a connection limit was reached."),
            Map.entry("culvert.edge.unread.responses",
                    "Responses that were dropped because their callers read too little of them."),
            Map.entry("culvert.edge.http2.errors", "HTTP/2 connections of callers that ended with an error."),
            Map.entry("culvert.memory.budget",
                    "Bytes of callers' bodies: in memory (used) and the limit (max)."),
            Map.entry("culvert.runtime", "Bytes of callers' bodies."),
            Map.entry("culvert.runtime.refused", "Requests refused, by limit."),
            Map.entry("culvert.memory.refused",
                    "Connections that ended because direct memory could not be allocated."),
            Map.entry("culvert.access.log.dropped",
                    "Lines of the access log that were dropped because its queue was full."),
            Map.entry("culvert.tcp.connections", "Raw connections that are passed through."),
            Map.entry("culvert.upstream.connections",
                    "Connections to upstreams, including those being established."),
            Map.entry("culvert.upstream.ejected",
                    "Addresses of upstreams that are excluded because they failed."),
            Map.entry("culvert.tunnel.openings", "Sessions that are being opened."),
            Map.entry("culvert.renewals.refused",
                    "Refused renewals of a key that another key had already renewed."),
            Map.entry("culvert.webhooks", "Webhooks in the inbox, by state."),
            Map.entry("culvert.webhook.delivery", "Time from storing a webhook to its delivery."),
            Map.entry("culvert.inbox.commit", "Duration of a transaction of the inbox, including its fsync."),
            Map.entry("culvert.inbox.batch", "Changes that one transaction of the inbox made."),
            Map.entry("culvert.inbox.lost",
                    "Acknowledged webhooks that a damaged or missing write-ahead log had lost at the start."),
            Map.entry("culvert.inbox.queued", "Changes that wait for the inbox's next transaction."),
            Map.entry("culvert.inbox.memory", "Memory of webhooks that are being received."),
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
