package dev.culvert.inbox.model;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.route.DurableMatch.DurableRoute;
import io.netty.channel.EventLoop;

/**
 * A webhook to be stored.
 *
 * @param route its route and event source
 * @param target path and query, as sent
 * @param from the account of the sender's address
 * @param known the fingerprint that identifies duplicates
 * @param content the content to store; the store takes ownership
 * @param waiter the caller, which waits for the response
 * @param loop the caller's event loop
 */
public record IncomingWebhook(String id, String runtime, DurableRoute route, String method, String authority,
        String target, SourceAddress from,
        Fingerprint known, WebhookBody content, Waiter waiter,
        EventLoop loop) {
    /** The approximate bytes of a webhook's rows and indexes, without body and fields. */
    private static final int OVERHEAD = 512;

    /** The bytes that count in quotas. */
    public long cost() {
        return content.size + content.fields.length + OVERHEAD;
    }

    /** The bytes that it adds to a transaction. */
    public long rowBytes() {
        byte[] body = content.body;
        return (body == null ? 0L : body.length) + content.fields.length + OVERHEAD;
    }
}
