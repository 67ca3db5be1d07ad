package dev.culvert.relay.exchange;

import dev.culvert.http.problem.ProblemDocument.Field;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far one response has come, whatever the caller's protocol: its head, its status, its length held against what comes,
 * and, once it is a WebSocket, where its frames end. Belongs to the connection's event loop.
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

    /** The final head, whoever makes it, carries these fields of the gateway, too. */
    void carry(List<Field> gateways) {
        fields = gateways;
    }

    /** And this one. */
    void carry(Field gateways) {
        List<Field> all = new ArrayList<>(fields);
        all.add(gateways);
        fields = all;
    }

    /** A problem, should there be one, is written in the form that this {@code Accept} field prefers. */
    void problemsAs(CharSequence callers) {
        accept = callers;
    }

    /** The form of problems: an {@code Accept} field's value. */
    public CharSequence accept() {
        return accept;
    }

    /** Bytes of the body so far. */
    long bodyBytes() {
        return bodyBytes;
    }

    /** What the gateway adds to the final head: lists, so that an upstream's own members stay beside them. */
    public List<Field> fields() {
        return fields;
    }

    /** Whether the response has no body because its request asked for none. */
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

    /** The status code that the caller gets; 0 before the final head. */
    int status() {
        return status;
    }

    /**
     * Whether this head can be said in one way only. Runtimes are not trusted with the connection: another runtime's answer
     * may follow on it.
     *
     * @param upgrade whether the request asked for an upgrade: 101 is an answer to it
     */
    boolean isSound(Http2Headers head, boolean ended, boolean upgrade) {
        return shape.isSound(head, ended, upgrade);
    }

    /** The final head, a sound one, is written. */
    public void begin(Http2Headers head, int code) {
        headSent = true;
        status = code;
        shape.begin(head);
    }

    /** The head of a problem is written, which is made here, with a body of this length. */
    public void beginProblem(int code, int length) {
        headSent = true;
        status = code;
        bodyBytes = answersHead() ? 0 : length;
    }

    /** The head that makes the request a WebSocket is written, with the code that the caller's protocol has for that. */
    public void upgrade(int code) {
        headSent = true;
        status = code;
        boundary = new WebSocketBoundary();
    }

    /** Whether these body bytes, which are borrowed, may follow; they are then taken as written. */
    boolean take(ByteBuf body) {
        WebSocketBoundary frames = boundary;
        bodyBytes += body.readableBytes();
        if (frames != null) {
            frames.pass(body);
            return true;
        }
        return shape.take(body.readableBytes());
    }

    /** Whether the body may end here. */
    boolean mayEnd() {
        return shape.mayEnd();
    }

    /** Whether a WebSocket frame of the gateway's own may stand here. */
    boolean isBetweenFrames() {
        WebSocketBoundary frames = boundary;
        return frames != null && frames.isReached();
    }
}
