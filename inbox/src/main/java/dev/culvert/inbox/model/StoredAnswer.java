package dev.culvert.inbox.model;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.ProblemDocument;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.ByteBuffer;

/**
 * What an event source answered, as its caller gets it. Not to be changed.
 */
public final class StoredAnswer {
    /** What is kept of an answer's body: a longer one is not passed on. */
    public static final int MAX_BODY = 64 << 10;
    /** What is kept of an answer for duplicates, encoded. */
    public static final int MAX_KEPT = 4 << 10;

    private final Http2Headers head;
    private final byte[] body;

    /**
     * @param head {@code :status} first
     * @param body whole
     */
    public StoredAnswer(Http2Headers head, byte[] body) {
        this.head = head;
        this.body = body;
    }

    /** A refusal on the way, for good: its caller gets it as from anywhere else. */
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

    /** What is stored of it for duplicates: of one that is too large its status alone. */
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
