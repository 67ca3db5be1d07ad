package dev.culvert.relay.exchange;

import dev.culvert.http.problem.ProblemDocument.Field;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The progress of one response, in any protocol of the caller: its head, its status, its declared and
 * received length, and, for a WebSocket, its frame boundaries. Belongs to the connection's event loop.
 */
public final class ResponseProgress {
    private final ResponseShape shape;
    private boolean headSent;
    private int status;
    private List<Field> fields = List.of();
    private CharSequence accept = "";
    private long bodyBytes;
    private @Nullable WebSocketBoundary boundary;

    public ResponseProgress(boolean answersHead) {
        shape = new ResponseShape(answersHead);
    }

    /** Sets the gateway's fields for the final head, whether an upstream or the gateway creates it. */
    void carry(List<Field> gateways) {
        fields = gateways;
    }

    /** Adds one of the gateway's fields for the final head. */
    void carry(Field gateways) {
        List<Field> all = new ArrayList<>(fields);
        all.add(gateways);
        fields = all;
    }

    /** Sets the caller's {@code Accept} value, which chooses the form of a problem. */
    void problemsAs(CharSequence callers) {
        accept = callers;
    }

    /** The {@code Accept} value that chooses the form of a problem. */
    public CharSequence accept() {
        return accept;
    }

    /** The body bytes so far. */
    long bodyBytes() {
        return bodyBytes;
    }

    /**
     * The fields that the gateway adds to the final head. They are lists, so that the upstream's members are
     * kept beside them.
     */
    public List<Field> fields() {
        return fields;
    }

    /** Whether the response has no body because its request was a HEAD. */
    public boolean answersHead() {
        return shape.answersHead();
    }

    /** Whether the final head was written. */
    boolean isHeadSent() {
        return headSent;
    }

    /** Whether the request became a WebSocket: both bodies are raw bytes. */
    public boolean isUpgraded() {
        return boundary != null;
    }

    /** The caller's status code; 0 before the final head. */
    int status() {
        return status;
    }

    /**
     * Whether the head has exactly one interpretation. Runtimes are not trusted with the connection, because
     * another runtime's response may follow on it.
     *
     * @param upgrade whether the request asked for an upgrade, so that 101 is allowed
     */
    boolean isSound(Http2Headers head, boolean ended, boolean upgrade) {
        return shape.isSound(head, ended, upgrade);
    }

    /** The final head, which is valid, is written. */
    public void begin(Http2Headers head, int code) {
        headSent = true;
        status = code;
        shape.begin(head);
    }

    /** The head of a problem that the gateway created is written, with a body of this length. */
    public void beginProblem(int code, int length) {
        headSent = true;
        status = code;
        bodyBytes = answersHead() ? 0 : length;
    }

    /** The head that starts a WebSocket is written, with the status code of the caller's protocol. */
    public void upgrade(int code) {
        headSent = true;
        status = code;
        boundary = new WebSocketBoundary();
    }

    /** Counts body bytes as written, and borrows them. Returns false if they exceed the declared length. */
    boolean take(ByteBuf body) {
        WebSocketBoundary frames = boundary;
        bodyBytes += body.readableBytes();
        if (frames != null) {
            frames.pass(body);
            return true;
        }
        return shape.take(body.readableBytes());
    }

    /** Whether the response has no content, so that bytes of a body are dropped. */
    boolean isBodiless() {
        return shape.isBodiless();
    }

    /** Whether the body may end here. */
    boolean mayEnd() {
        return shape.mayEnd();
    }

    /** Whether the gateway may insert a WebSocket frame of its own here. */
    boolean isBetweenFrames() {
        WebSocketBoundary frames = boundary;
        return frames != null && frames.isReached();
    }
}
