package dev.culvert.inbox.model;

import io.netty.handler.codec.http2.Http2Headers;

/** The fields of a webhook and the beginning of its body, as received. Both may hold secrets. */
public final class WebhookHead {
    private final Http2Headers fields;
    private final byte[] body;
    private final long size;

    /**
     * @param body the first bytes of its body
     * @param size the length of the whole body
     */
    public WebhookHead(Http2Headers fields, byte[] body, long size) {
        this.fields = fields;
        this.body = body;
        this.size = size;
    }

    public Http2Headers fields() {
        return fields;
    }

    /** The first bytes of the body, not copied. */
    public byte[] body() {
        return body;
    }

    public long size() {
        return size;
    }
}
