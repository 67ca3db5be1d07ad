package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * A request that announces the length of its body and has not sent any of it: it is opened at its target with the first byte of
 * the body, or with its end. So a body that never comes takes no stream of a tunnel and no connection of an upstream. Stands
 * behind whatever answers from the head alone; the silence is its asker's to judge. Of the exchange's event loop.
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
    /** Bytes of the response that the asker took before the target had said where the body goes. */
    private int consumed;

    private BodyFirst(Relay target, RelayRequest request, ResponseSink response) {
        this.target = target;
        this.request = request;
        this.response = response;
    }

    /**
     * Whether a request can wait for its body: its sender has told a length, so that the body is there already. Not where the
     * sender may wait for the answer first: {@code Expect}, upgrades, raw connections, gRPC, and bodies without a length, which
     * may be one half of a conversation.
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

    /** Holds a request that {@link #isFor} is true of. Otherwise as {@link Relay#open}. */
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
