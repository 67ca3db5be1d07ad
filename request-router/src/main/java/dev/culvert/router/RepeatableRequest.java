package dev.culvert.router;

import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.protocol.body.BodyQueue;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A request that is kept as it comes, for as long as that is little, so that it can be sent again. On its event loop. */
final class RepeatableRequest {
    /** Held for each exchange that may be repeated, until its answer begins; what GraphQL queries have at most. */
    static final int MAX_BYTES = 64 << 10;

    /** RFC 9110 §9.2.2. */
    private static final Set<String> IDEMPOTENT = Set.of("GET", "HEAD", "OPTIONS", "PUT", "DELETE");

    private final RelayRequest request;
    private final @Nullable Http2Headers copy;
    private final BodyQueue kept = new BodyQueue();
    private int keptBytes;
    private boolean first = true;
    private boolean whole;
    private boolean ended;
    /** How often the kept parts were given back. */
    private int releases;
    private @Nullable Http2Headers trailers;

    /** @param keeping whether it may ever be sent again */
    RepeatableRequest(RelayRequest request, boolean keeping) {
        this.request = request;
        this.whole = keeping;
        this.ended = request.ended();
        this.copy = keeping ? copy(request.fields()) : null;
    }

    private static Http2Headers copy(Http2Headers fields) {
        return new DefaultHttp2Headers(false, fields.size()).setAll(fields);
    }

    /** Its head, to be given away. */
    RelayRequest head() {
        if (first || copy == null) {
            first = false;
            return request;
        }
        return new RelayRequest(request.kind(), copy(copy), request.ended(), request.loop(),
                request.source());
    }

    boolean isIdempotent() {
        return request.kind() == RelayRequest.Kind.HTTP
                && IDEMPOTENT.contains(String.valueOf(request.fields().method()));
    }

    /** Whether all of it that came is still here. */
    boolean isWhole() {
        return whole;
    }

    boolean isEnded() {
        return ended;
    }

    /** Borrows {@code body} for the call. */
    void keep(ByteBuf body) {
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

    void end(@Nullable Http2Headers last) {
        ended = true;
        trailers = last;
    }

    /** Sends what came so far. */
    void sendTo(RequestSink to) {
        List<ByteBuf> all = new ArrayList<>(kept.size());
        kept.share(part -> all.add(part.retainedDuplicate()));
        int releasesBefore = releases;
        for (ByteBuf part : all) {
            if (releases == releasesBefore) {
                to.data(part);
            } else {
                part.release(); // answered, or given up, meanwhile
            }
        }
        if (releases == releasesBefore && ended && !request.ended()) {
            to.end(trailers);
        }
    }

    /** It is not sent again. */
    void release() {
        whole = false;
        releases++;
        kept.clear();
    }
}
