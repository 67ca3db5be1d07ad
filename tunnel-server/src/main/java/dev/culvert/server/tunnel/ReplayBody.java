package dev.culvert.server.tunnel;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.relay.HeadCost;
import dev.culvert.relay.RequestSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a request has sent of its body, as long as it may have to be sent again. Belongs to the request's event loop. */
final class ReplayBody {
    /** What a caller's connection reads before it stops, and one read more, in parts of 1 KiB at least. */
    static final int MAX_COST = 320 << 10;

    private final HeldRequests held;
    private final BodyQueue parts = new BodyQueue();
    /** Of what is kept: bytes, and the objects that hold them. */
    private int cost;
    private boolean complete = true;
    private boolean ended;
    private @Nullable Http2Headers trailers;

    /** @param ended whether the request has no body */
    ReplayBody(HeldRequests held, boolean ended) {
        this.held = held;
        this.ended = ended;
    }

    /** Whether everything is here, so that the request can be sent again. */
    boolean isComplete() {
        return complete;
    }

    /** Keeps a body part beside whoever gets it, or forgets all: then this is no longer complete. Borrows the buffer. */
    void add(ByteBuf body) {
        if (!complete) {
            return;
        }
        int more = body.readableBytes() + (BodyQueue.isSmall(body) ? 0 : BodyQueue.PART_BYTES);
        if (keep(more)) {
            parts.add(body.retainedDuplicate());
        }
    }

    /** Takes room, or forgets all. */
    private boolean keep(int more) {
        if (cost + more > MAX_COST || !held.keep(more)) {
            forget();
            return false;
        }
        cost += more;
        return true;
    }

    /** The request has ended; its trailers are kept, too. */
    void end(@Nullable Http2Headers last) {
        ended = true;
        trailers = last;
        if (last != null && complete) {
            keep(HeadCost.of(last));
        }
    }

    /** Sends what is kept, and keeps it. */
    void sendTo(RequestSink target, boolean hasBody) {
        List<ByteBuf> all = new ArrayList<>(parts.size()); // the answer to one part may forget all
        parts.share(part -> all.add(part.retainedDuplicate()));
        all.forEach(target::data);
        if (hasBody && ended) {
            target.end(trailers);
        }
    }

    /** Gives the bytes back: the request will not be sent again. */
    void forget() {
        complete = false;
        parts.clear();
        held.forget(cost);
        cost = 0;
    }
}
