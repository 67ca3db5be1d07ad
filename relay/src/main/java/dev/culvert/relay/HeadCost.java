package dev.culvert.relay;

import io.netty.handler.codec.http2.Http2Headers;
import java.util.Map;

/** Counts the memory that a head, or trailers, take while the gateway holds them. */
public final class HeadCost {
    /** The overhead of a field in addition to its name and value. */
    private static final int FIELD_BYTES = 32;

    private HeadCost() {}

    /** Counts the bytes of a decoded head (RFC 7541 §4.1). */
    public static int of(Http2Headers head) {
        int bytes = 0;
        for (Map.Entry<CharSequence, CharSequence> field : head) {
            bytes += field.getKey().length() + field.getValue().length() + FIELD_BYTES;
        }
        return bytes;
    }
}
