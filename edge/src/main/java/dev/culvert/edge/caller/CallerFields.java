package dev.culvert.edge.caller;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;

/** The fields that tell a runtime who calls, as the edge has verified it. What callers send in them is dropped. */
public final class CallerFields {
    /** The subject of the caller's certificate or token. */
    public static final AsciiString SUBJECT = AsciiString.cached("culvert-caller-subject");
    /** The SHA-256 of the caller's certificate, in hexadecimal digits. */
    public static final AsciiString CERTIFICATE = AsciiString.cached("culvert-caller-certificate");

    private CallerFields() {}

    static void remove(Http2Headers fields) {
        fields.remove(SUBJECT);
        fields.remove(CERTIFICATE);
    }
}
