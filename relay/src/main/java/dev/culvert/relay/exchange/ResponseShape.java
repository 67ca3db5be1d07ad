package dev.culvert.relay.exchange;

import dev.culvert.http.fields.ContentLength;
import io.netty.handler.codec.http2.Http2Headers;

/** Compares the declared length of one response's body (RFC 9110 §8.6) with the received bytes. */
final class ResponseShape {
    private final boolean answersHead;
    /** The body bytes still to come; below 0 if no length was declared. */
    private long due = -1;
    private boolean bodiless;

    /** @param head whether the request was a HEAD */
    ResponseShape(boolean head) {
        answersHead = head;
    }

    boolean answersHead() {
        return answersHead;
    }

    /**
     * Whether the head declares at most one length that the response can have, and switches protocols only on
     * request.
     */
    boolean isSound(Http2Headers head, boolean ended, boolean upgrade) {
        if ("101".contentEquals(head.status())) {
            return upgrade;
        }
        long length = ContentLength.of(head);
        int status = status(head);
        return ContentLength.fits(length, status, answersHead)
                && (!ended || length <= 0 || ContentLength.isBodiless(status, answersHead));
    }

    /** The response begins with a valid head. */
    void begin(Http2Headers head) {
        bodiless = ContentLength.isBodiless(status(head), answersHead);
        due = bodiless ? ContentLength.UNKNOWN : ContentLength.of(head);
    }

    /** Whether the response has no content, so that bytes of a body are dropped. */
    boolean isBodiless() {
        return bodiless;
    }

    /** Counts body bytes. Returns false if they exceed the declared length. */
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

    private static int status(Http2Headers head) {
        return Integer.parseInt(head.status(), 0, head.status().length(), 10);
    }
}
