package dev.culvert.edge.caller;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;

/** The fields that only a gateway says: what callers send in them is dropped before a request is looked at. */
public final class CallerFields {
    /** The subject of the caller's certificate or token. */
    public static final AsciiString SUBJECT = AsciiString.cached("culvert-caller-subject");
    /** The SHA-256 of the caller's certificate, in hexadecimal digits. */
    public static final AsciiString CERTIFICATE = AsciiString.cached("culvert-caller-certificate");

    /** The id of a webhook: on a request, the mark of one that an inbox has stored already. */
    public static final AsciiString WEBHOOK_ID = AsciiString.cached("culvert-webhook-id");
    /** How often that inbox has tried to deliver it, this time included. */
    public static final AsciiString DELIVERY_ATTEMPT = AsciiString.cached("culvert-delivery-attempt");

    private CallerFields() {}

    /** @param believed whether the peer may say that an inbox of its own has the webhook */
    static void remove(Http2Headers fields, boolean believed) {
        fields.remove(SUBJECT);
        fields.remove(CERTIFICATE);
        if (!believed) {
            fields.remove(WEBHOOK_ID);
            fields.remove(DELIVERY_ATTEMPT);
        }
    }
}
