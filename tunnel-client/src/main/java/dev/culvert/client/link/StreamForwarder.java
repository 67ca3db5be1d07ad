package dev.culvert.client.link;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.netty.StreamListener;
import dev.culvert.protocol.netty.TunnelStream;
import dev.culvert.protocol.session.SessionEvent.Opened;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.WireProblem;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Headers.PseudoHeaderName;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Forwards one stream of the tunnel to the router or to the only upstream. Confined to the session's event
 * loop.
 */
final class StreamForwarder implements StreamListener, ResponseSink {
    private final TunnelStream stream;
    private final long sinceNanos = System.nanoTime();
    private @Nullable RequestSink request;
    private HeadOptions.@Nullable Times times;

    private StreamForwarder(TunnelStream stream) {
        this.stream = stream;
    }

    /** Forwards a stream that the server opened. */
    static StreamForwarder forward(TunnelStream stream, Opened opened, Relay relay, EventLoop loop) {
        StreamForwarder forwarder = new StreamForwarder(stream);
        Http2Headers fields = opened.head();
        boolean upgrade = opened.kind() == StreamKind.UPGRADE;
        CharSequence protocol = fields.getAndRemove(PseudoHeaderName.PROTOCOL.value());
        if (upgrade) {
            fields.set("upgrade", protocol == null ? "websocket" : protocol); // docs/protocol.md §5
        }
        RelayRequest.Kind kind = switch (opened.kind()) {
            case HTTP -> RelayRequest.Kind.HTTP;
            case UPGRADE -> RelayRequest.Kind.UPGRADE;
            case TCP -> RelayRequest.Kind.TCP;
        };
        forwarder.request = relay.open(new RelayRequest(kind, fields, opened.ended(), loop), forwarder);
        return forwarder;
    }

    private RequestSink request() {
        return Objects.requireNonNull(request);
    }

    // ---- from the tunnel ----

    @Override
    public void data(ByteBuf body, boolean last) {
        if (body.isReadable()) {
            request().data(body);
        } else {
            body.release();
        }
        if (last) {
            request().end(null);
        }
    }

    @Override
    public void trailers(Http2Headers trailers) {
        request().end(trailers);
    }

    @Override
    public void sent(int bytes) {
        RequestSink to = request;
        if (to != null) {
            to.consumed(bytes);
        }
    }

    @Override
    public void reset(StreamReset reset) {
        request().cancel(WireProblem.problem(reset.cause(), reset.hop(), reset.detail(), Cause.TUNNEL_LOST));
    }

    // ---- from the router ----

    @Override
    public void informational(Http2Headers head) {
        stream.respond(head, true, false);
    }

    @Override
    public void times(int routerMicros, int upstreamMicros) {
        long all = (System.nanoTime() - sinceNanos) / 1000;
        int client = Math.clamp(all - routerMicros - upstreamMicros, 0, Integer.MAX_VALUE);
        times = new HeadOptions.Times(client, routerMicros, upstreamMicros);
    }

    @Override
    public void head(Http2Headers head, boolean ended) {
        head.remove("upgrade"); // the 101 implies it; docs/protocol.md §5
        HeadOptions.Times spent = times;
        if (spent == null) {
            stream.respond(head, false, ended);
        } else {
            stream.respond(head, spent, ended);
        }
    }

    @Override
    public void data(ByteBuf body) {
        stream.data(body);
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        stream.end(trailers);
    }

    /** Resets the stream after the bytes that the upstream wrote before it failed. */
    @Override
    public void fail(Problem problem) {
        boolean cancelled = problem.equals(WireProblem.UPSTREAM_CANCELLED);
        stream.breakOff(cancelled ? ErrorCode.CANCELLED : ErrorCode.FAILED,
                WireProblem.number(problem.cause()),
                WireProblem.number(problem.hop()),
                problem.detail());
    }

    @Override
    public void consumed(int bytes) {
        stream.consumed(bytes);
    }
}
