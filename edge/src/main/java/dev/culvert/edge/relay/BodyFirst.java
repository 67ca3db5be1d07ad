package dev.culvert.edge.caller;

import dev.culvert.edge.Problem;
import dev.culvert.edge.relay.Relay;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * A request that announces a body and has not sent any of it: its head is held at the edge until the first byte or the end is
 * there. So a body that never comes takes no stream of the tunnel and no connection of the upstream; its silence is answered
 * 408 as that of any other.
 *
 * <pre>
 *  HELD ──first byte, end──► OPEN (all calls go on)
 *    └──cancel──► OVER
 * </pre>
 */
final class BodyFirst implements RequestSink {
    private final Relay target;
    private final RelayRequest request;
    private final ResponseSink response;
    private @Nullable RequestSink opened;
    private boolean over;
    /** What the target answered, and was taken, before it had said where the body goes. */
    private int consumed;

    private BodyFirst(Relay target, RelayRequest request, ResponseSink response) {
        this.target = target;
        this.request = request;
        this.response = response;
    }

    static Relay inFrontOf(Relay target) {
        return (request, response) -> new BodyFirst(target, request, response);
    }

    /**
     * Whether the head of a request with a body can wait: its sender has told a length, so that the body is there already.
     * Not where the sender may wait for the answer first: {@code Expect}, upgrades, gRPC, and bodies without a length, which may
     * be one half of a conversation.
     *
     * @param head as received: hop-by-hop fields still there
     */
    static boolean isFor(EdgeRequestHead head) {
        Http2Headers fields = head.fields();
        return !head.upgrade() && !fields.contains("expect") && !GrpcStatus.isGrpc(fields.get("content-type"))
                && !fields.contains("transfer-encoding") && head.bodyBytes() > 0;
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
