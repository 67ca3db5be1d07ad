package dev.culvert.inbox.model;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.ProblemDocument;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.ByteBuffer;

/** The response of an event source, in the form sent to the caller. Must not be changed. */
public final class StoredAnswer {
    /** The maximum length of a response's body. A longer one is not passed on. */
    public static final int MAX_BODY = 64 << 10;
    /** The maximum encoded length of a response that is kept for duplicates. */
    public static final int MAX_KEPT = 4 << 10;

    private final Http2Headers head;
    private final byte[] body;

    /**
     * @param head {@code :status} first
     * @param body the complete body
     */
    public StoredAnswer(Http2Headers head, byte[] body) {
        this.head = head;
        this.body = body;
    }

    /** Creates the response of a final refusal by the gateway, in its usual form. */
    public static StoredAnswer of(Problem refusal, String requestId) {
        ProblemDocument document = ProblemDocument.of(refusal, requestId);
        Http2Headers head = new DefaultHttp2Headers(false, 8).status(Integer.toString(document.status()));
        document.fields().forEach(field -> head.set(field.name(), field.value()));
        return new StoredAnswer(head, document.body());
    }

    public Http2Headers head() {
        return head;
    }

    public byte[] body() {
        return body;
    }

    byte[] encode() {
        byte[] fields = StoredFields.encode(head);
        return ByteBuffer.allocate(Integer.BYTES + fields.length + body.length)
                .putInt(fields.length)
                .put(fields)
                .put(body)
                .array();
    }

    /**
     * Returns the encoded response to store for duplicates. Of a response that is too large, only the status
     * is stored.
     */
    public byte[] kept() {
        byte[] whole = encode();
        return whole.length <= MAX_KEPT
                ? whole
                : new StoredAnswer(
                        new DefaultHttp2Headers(false, 2).status(head.status()).setInt("content-length", 0),
                        new byte[0]).encode();
    }

    public static StoredAnswer decode(byte[] stored) {
        ByteBuffer from = ByteBuffer.wrap(stored);
        byte[] fields = new byte[from.getInt()];
        from.get(fields);
        byte[] body = new byte[from.remaining()];
        from.get(body);
        return new StoredAnswer(StoredFields.decode(fields), body);
    }
}
