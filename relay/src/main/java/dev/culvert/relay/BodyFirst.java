package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * A request that announces the length of its body and has not sent any of it. It is opened at its target with
 * the first byte of the body, or with its end. A body that never arrives therefore takes no tunnel stream and
 * no upstream connection. Relays that respond from the head alone run before this one. The asker applies the
 * time-out for a silent body. Belongs to the exchange's event loop.
 *
 * <pre>
 *  HELD ──first byte, end──► OPEN (all calls go on)
 *    └──cancel──► OVER
 * </pre>
 */
public final class BodyFirst implements RequestSink {
    private final Relay target;
    private final RelayRequest request;
    private final ResponseSink response;
    private @Nullable RequestSink opened;
    private boolean over;
    /** Response bytes that the asker consumed before the target returned its sink. */
    private int consumed;

    private BodyFirst(Relay target, RelayRequest request, ResponseSink response) {
        this.target = target;
        this.request = request;
        this.response = response;
    }

    /**
     * Whether a request can wait for its body: a stated length shows that its sender has the body ready.
     * False where the sender may wait for the response first: {@code Expect}, upgrades, raw connections,
     * gRPC, and bodies without a length, which may be one half of a conversation.
     */
    public static boolean isFor(RelayRequest request) {
        Http2Headers fields = request.fields();
        if (request.ended() || request.kind() != RelayRequest.Kind.HTTP) {
            return false;
        }
        CharSequence length = fields.get("content-length");
        return length != null && !"0".contentEquals(length) && !fields.contains("expect")
                && !GrpcContent.isGrpc(fields.get("content-type"));
    }

    /** Holds a request for which {@link #isFor} returned true. Otherwise as {@link Relay#open}. */
    public static RequestSink hold(Relay target, RelayRequest request, ResponseSink response) {
        return new BodyFirst(target, request, response);
    }

    @Override
    public void data(ByteBuf body) {
        if (over) {
            body.release();
        } else {
            open().data(body);
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (!over) {
            open().end(trailers);
        }
    }

    private RequestSink open() {
        RequestSink to = opened;
        if (to == null) {
            to = target.open(request, response);
            opened = to;
            if (consumed > 0) {
                to.consumed(consumed);
            }
        }
        return to;
    }

    @Override
    public void cancel(Problem reason) {
        over = true;
        RequestSink to = opened;
        if (to != null) {
            to.cancel(reason);
        }
    }

    @Override
    public void consumed(int bytes) {
        RequestSink to = opened;
        if (to == null) {
            consumed += bytes;
        } else {
            to.consumed(bytes);
        }
    }
}
