package dev.culvert.relay.exchange;

import dev.culvert.http.fields.ContentLength;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.List;

/** How long one response's body has to be (RFC 9110 §8.6), held against what comes. */
final class ResponseShape {
    private final boolean answersHead;
    /** Body bytes that must still come; below 0 when nobody said how many. */
    private long due = -1;

    /** @param head whether the request was a HEAD */
    ResponseShape(boolean head) {
        answersHead = head;
    }

    boolean answersHead() {
        return answersHead;
    }

    /** Whether the head says one length at most, and can keep it; and switches protocols only if it was asked. */
    boolean isSound(Http2Headers head, boolean ended, boolean upgrade) {
        boolean switches = "101".contentEquals(head.status());
        List<CharSequence> lengths = head.getAll(HttpHeaderNames.CONTENT_LENGTH);
        if (switches || lengths.isEmpty()) {
            return !switches || upgrade;
        }
        long length = lengths.size() == 1 ? ContentLength.parse(lengths.getFirst()) : -1;
        return length >= 0 && (!ended || length == 0 || isBodiless(head.status()));
    }

    /** The response begins with a sound head. */
    void begin(Http2Headers head) {
        CharSequence length = head.get(HttpHeaderNames.CONTENT_LENGTH);
        due = length == null || isBodiless(head.status()) ? -1 : ContentLength.parse(length);
    }

    /** Whether so many more bytes fit. */
    boolean take(int bytes) {
        if (due >= 0 && bytes > due) {
            return false;
        }
        due -= due < 0 ? 0 : bytes;
        return true;
    }

    /** Whether the body may end here. */
    boolean mayEnd() {
        return due <= 0;
    }

    private boolean isBodiless(CharSequence status) {
        return answersHead || "204".contentEquals(status) || "304".contentEquals(status);
    }
}
