package dev.culvert.relay.upstream;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a request while it is forwarded, up to a limit, so that it can be sent again. Belongs to its event
 * loop.
 */
public final class RepeatableRequest {
    /** The maximum bytes kept for an exchange until its response begins. GraphQL queries are not longer. */
    public static final int MAX_BYTES = 64 << 10;

    /** The idempotent methods (RFC 9110 §9.2.2). */
    private static final Set<String> IDEMPOTENT = Set.of("GET", "HEAD", "OPTIONS", "PUT", "DELETE");

    private final RelayRequest request;
    private final @Nullable Http2Headers copy;
    private final BodyQueue kept = new BodyQueue();
    private int keptBytes;
    private boolean first = true;
    private boolean whole;
    private boolean ended;
    /** The number of calls to {@link #release}. */
    private int releases;
    private @Nullable Http2Headers trailers;

    /** @param keeping whether the request may be sent again at all */
    public RepeatableRequest(RelayRequest request, boolean keeping) {
        this.request = request;
        this.whole = keeping;
        this.ended = request.ended();
        this.copy = keeping ? copy(request.fields()) : null;
    }

    private static Http2Headers copy(Http2Headers fields) {
        return new HeadFields(fields.size()).add(fields);
    }

    /** Returns the head. The receiver owns it: a copy after the first call. */
    public RelayRequest head() {
        if (first || copy == null) {
            first = false;
            return request;
        }
        return new RelayRequest(request.kind(), copy(copy), request.ended(), request.loop(),
                request.caller());
    }

    public boolean isIdempotent() {
        return request.kind() == RelayRequest.Kind.HTTP
                && IDEMPOTENT.contains(String.valueOf(request.fields().method()));
    }

    /** Whether every part received so far is kept. */
    public boolean isWhole() {
        return whole;
    }

    public boolean isEnded() {
        return ended;
    }

    /** Borrows {@code body} for the call. */
    public void keep(ByteBuf body) {
        if (!whole) {
            return;
        }
        keptBytes += body.readableBytes();
        if (keptBytes > MAX_BYTES) {
            release();
        } else {
            kept.add(body.retainedDuplicate());
        }
    }

    public void end(@Nullable Http2Headers last) {
        ended = true;
        trailers = last;
    }

    /** Sends everything received so far to {@code to}. */
    public void sendTo(RequestSink to) {
        List<ByteBuf> all = new ArrayList<>(kept.size());
        kept.share(part -> all.add(part.retainedDuplicate()));
        int releasesBefore = releases;
        for (ByteBuf part : all) {
            if (releases == releasesBefore) {
                to.data(part);
            } else {
                part.release(); // the response began, or the exchange was cancelled, meanwhile
            }
        }
        if (releases == releasesBefore && ended && !request.ended()) {
            to.end(trailers);
        }
    }

    /** Releases the kept parts: the request is not sent again. */
    public void release() {
        whole = false;
        releases++;
        kept.clear();
    }
}
