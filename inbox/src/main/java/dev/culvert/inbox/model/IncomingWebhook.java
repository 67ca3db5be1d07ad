package dev.culvert.inbox.model;

import dev.culvert.relay.route.DurableMatch.DurableRoute;
import io.netty.channel.EventLoop;

/**
 * A webhook that is to be stored.
 *
 * @param route its route and event source
 * @param target path and query, as sent
 * @param known what duplicates are known by
 * @param content what is kept; the store takes it over
 * @param waiter its caller
 * @param loop its caller's
 */
public record IncomingWebhook(String id, String runtime, DurableRoute route, String method, String authority,
        String target,
        Fingerprint known, WebhookBody content, Waiter waiter,
        EventLoop loop) {
    /** What a webhook takes up beside its body and fields, about: rows and their indexes. */
    private static final int OVERHEAD = 512;

    /** What it counts for in quotas. */
    public long cost() {
        return content.size + content.fields.length + OVERHEAD;
    }

    /** What it adds to a transaction. */
    public long rowBytes() {
        byte[] body = content.body;
        return (body == null ? 0L : body.length) + content.fields.length + OVERHEAD;
    }
}
