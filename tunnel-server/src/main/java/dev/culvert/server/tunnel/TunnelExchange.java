package dev.culvert.server.tunnel;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.netty.StreamListener;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.netty.TunnelStream;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SmallParts;
import dev.culvert.relay.WireProblem;
import dev.culvert.server.tunnel.TunnelRequest.Touched;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One exchange through a tunnel: the edge's relay calls on one side, a stream on the other. On the session's
 * event loop.
 */
final class TunnelExchange implements RequestSink, StreamListener {
    private static final Problem GONE = Problem.of(Cause.DRAINING, Hop.TUNNEL, "the tunnel went away");

    private final ResponseSink response;
    private final TunnelRequest origin;
    /** The small parts of the response's body. */
    private final SmallParts parts;
    /** The number of response bytes that the caller has not consumed. */
    private long underWay;
    private @Nullable TunnelStream stream;
    /** Whether both directions carry a WebSocket. */
    private boolean upgraded;
    /** Whether the session ends soon. A WebSocket is then closed in time. */
    private boolean ending;

    /**
     * @param loop the session's event loop
     * @param origin notified how far the exchange got, before {@code response} is notified of a failure
     */
    TunnelExchange(EventLoop loop, ResponseSink response, TunnelRequest origin) {
        this.response = response;
        this.origin = origin;
        this.parts = new SmallParts(loop, response::data);
    }

    /** Opens the stream. Returns false when the head is too large for the client. */
    boolean open(TunnelChannelHandler handler, RelayRequest request) {
        Http2Headers fields = request.fields();
        boolean upgrade = request.kind() == RelayRequest.Kind.UPGRADE;
        if (upgrade) {
            // docs/protocol.md §5: the token travels as a pseudo-field, since connection-specific fields are
            // refused
            CharSequence token = fields.getAndRemove("upgrade");
            if (token != null) { // null when the request is sent again: the fields are converted already
                fields.set(Http2Headers.PseudoHeaderName.PROTOCOL.value(), token);
            }
        }
        StreamKind kind = switch (request.kind()) {
            case HTTP -> StreamKind.HTTP;
            case UPGRADE -> StreamKind.UPGRADE;
            case TCP -> StreamKind.TCP;
        };
        stream = handler.open(kind, fields, request.ended(), this);
        return stream != null;
    }

    private TunnelStream stream() {
        return Objects.requireNonNull(stream);
    }

    @Override
    public void data(ByteBuf body) {
        stream().data(body);
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        stream().end(trailers);
    }

    @Override
    public void cancel(Problem reason) {
        parts.close();
        stream().reset(ErrorCode.CANCELLED, WireProblem.number(reason.cause()),
                WireProblem.number(reason.hop()), "");
    }

    @Override
    public void consumed(int bytes) {
        underWay -= bytes;
        stream().consumed(bytes);
    }

    @Override
    public void head(Http2Headers head, HeadOptions options, boolean informational, boolean ended) {
        if (informational) {
            response.informational(head);
        } else {
            upgraded = "101".contentEquals(head.status());
            HeadOptions.Times spent = options.times();
            if (spent != null) {
                response.times(Math.max(0, spent.routerMicros()), Math.max(0, spent.upstreamMicros()));
            }
            response.head(head, ended);
            if (ending && upgraded) {
                response.ending(GONE);
            }
        }
    }

    @Override
    public void ending() {
        ending = true;
        if (upgraded) {
            parts.flush();
            response.ending(GONE);
        }
    }

    @Override
    public void data(ByteBuf body, boolean last) {
        if (body.isReadable()) {
            boolean mayWait = underWay > 0;
            underWay += body.readableBytes();
            parts.data(body, mayWait);
        } else {
            body.release();
        }
        if (last) {
            parts.flush();
            response.end(null);
        }
    }

    @Override
    public void trailers(Http2Headers trailers) {
        parts.flush();
        response.end(trailers);
    }

    @Override
    public void sent(int bytes) {
        response.consumed(bytes);
    }

    @Override
    public void reset(StreamReset reset) {
        parts.flush();
        if (upgraded && (reset.code() == ErrorCode.DRAINING || reset.code() == ErrorCode.REPLACED)) {
            // The end of a drain: WebSockets get a Close with the reason.
            response.fail(GONE);
            return;
        }
        if (reset.code() == ErrorCode.CANCELLED
                && reset.cause() == WireProblem.number(Cause.UPSTREAM_RESET)) {
            response.fail(WireProblem.UPSTREAM_CANCELLED);
            return;
        }
        Cause otherwise = switch (reset.code()) {
            case REFUSED, OVERLOADED -> Cause.OVERLOADED;
            case DRAINING -> Cause.DRAINING;
            case HEAD_TOO_LARGE -> Cause.HEAD_TOO_LARGE;
            case TIMEOUT -> Cause.UPSTREAM_TIMEOUT;
            default -> Cause.TUNNEL_LOST;
        };
        if (reset.code() == ErrorCode.REFUSED) {
            origin.touched(Touched.NO);
        } else if (reset.cause() == WireProblem.number(Cause.TUNNEL_LOST)) {
            origin.touched(Touched.PERHAPS);
        }
        response.fail(WireProblem.problem(reset.cause(),
                reset.hop() == 0 ? WireProblem.number(Hop.TUNNEL) : reset.hop(),
                reset.cause() == 0 ? "" : reset.detail(), otherwise));
    }
}
