package dev.culvert.server.tunnel;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.relay.HeadCost;
import dev.culvert.relay.RequestSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the body bytes that a request has sent, for as long as the request may be sent again. Belongs to the
 * request's event loop.
 */
final class ReplayBody {
    /**
     * The maximum cost: the bytes that a caller's connection reads before it stops, and one read more, in
     * parts of at least 1 KiB.
     */
    static final int MAX_COST = 320 << 10;

    private final HeldRequests held;
    private final BodyQueue parts = new BodyQueue();
    /** The cost of the kept parts: their bytes, and the objects that hold them. */
    private int cost;
    private boolean complete = true;
    private boolean ended;
    private @Nullable Http2Headers trailers;

    /** @param ended whether the request has no body */
    ReplayBody(HeldRequests held, boolean ended) {
        this.held = held;
        this.ended = ended;
    }

    /** Whether all bytes so far are kept, so the request can be sent again. */
    boolean isComplete() {
        return complete;
    }

    /**
     * Keeps a body part, or releases all parts when there is no room; then the body is no longer complete.
     * Borrows the buffer.
     */
    void add(ByteBuf body) {
        if (!complete) {
            return;
        }
        int more = body.readableBytes() + (BodyQueue.isSmall(body) ? 0 : BodyQueue.PART_BYTES);
        if (keep(more)) {
            parts.add(body.retainedDuplicate());
        }
    }

    /** Reserves room, or releases all parts. */
    private boolean keep(int more) {
        if (cost + more > MAX_COST || !held.keep(more)) {
            forget();
            return false;
        }
        cost += more;
        return true;
    }

    /** Ends the request's body and keeps its trailers. */
    void end(@Nullable Http2Headers last) {
        ended = true;
        trailers = last;
        if (last != null && complete) {
            keep(HeadCost.of(last));
        }
    }

    /** Sends the kept parts, and still keeps them. */
    void sendTo(RequestSink target, boolean hasBody) {
        List<ByteBuf> all = new ArrayList<>(parts.size()); // the response to one part may release all parts
        parts.share(part -> all.add(part.retainedDuplicate()));
        all.forEach(target::data);
        if (hasBody && ended) {
            target.end(trailers);
        }
    }

    /** Releases the kept bytes: the request will not be sent again. */
    void forget() {
        complete = false;
        parts.clear();
        held.forget(cost);
        cost = 0;
    }
}
