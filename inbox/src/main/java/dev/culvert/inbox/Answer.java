package dev.culvert.inbox;

import dev.culvert.edge.Problem;
import dev.culvert.edge.ProblemDocument;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.ByteBuffer;

/**
 * What an event source answered, as its caller gets it. Not to be changed.
 */
final class Answer {
    /** What is kept of an answer's body: a longer one is not passed on. */
    static final int MAX_BODY = 64 << 10;
    /** What is kept of an answer for duplicates, encoded. */
    static final int MAX_KEPT = 4 << 10;

    private final Http2Headers head;
    private final byte[] body;

    /**
     * @param head {@code :status} first
     * @param body whole
     */
    Answer(Http2Headers head, byte[] body) {
        this.head = head;
        this.body = body;
    }

    /** A refusal on the way, for good: its caller gets it as from anywhere else. */
    static Answer of(Problem refusal, String requestId) {
        ProblemDocument document = ProblemDocument.of(refusal, requestId);
        Http2Headers head = new DefaultHttp2Headers(false, 8).status(Integer.toString(document.status()));
        document.fields().forEach(field -> head.set(field.name(), field.value()));
        return new Answer(head, document.body());
    }

    Http2Headers head() {
        return head;
    }

    byte[] body() {
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
    byte[] kept() {
        byte[] whole = encode();
        return whole.length <= MAX_KEPT
                ? whole
                : new Answer(
                        new DefaultHttp2Headers(false, 2).status(head.status()).setInt("content-length", 0),
                        new byte[0]).encode();
    }

    static Answer decode(byte[] stored) {
        ByteBuffer from = ByteBuffer.wrap(stored);
        byte[] fields = new byte[from.getInt()];
        from.get(fields);
        byte[] body = new byte[from.remaining()];
        from.get(body);
        return new Answer(StoredFields.decode(fields), body);
    }
}
