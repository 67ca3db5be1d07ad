package dev.culvert.relay.outbound;

import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.http.problem.Problem;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.tls.KeyExchange;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Exception.HeaderListSizeException;
import io.netty.handler.codec.http2.Http2Exception.StreamException;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP/2 connection to an upstream (RFC 9113). Each exchange has its own stream. The connection's window
 * holds the windows of the maximum number of streams, so that stalled streams delay no others.
 */
final class Http2UpstreamConnection extends Http2ConnectionHandler implements UpstreamConnection {
    private static final Logger log = LoggerFactory.getLogger(Http2UpstreamConnection.class);
    /**
     * The last stream number used, far below the maximum of 2^31, so that another connection takes over in
     * time.
     */
    private static final int LAST_STREAM = 1 << 30;

    private final Http2Pool pool;
    private final int generation;
    private final Http2Connection.PropertyKey exchanges;
    private @Nullable Endpoint endpoint;
    private @Nullable KeyExchange tls;
    private @Nullable ChannelHandlerContext context;
    private @Nullable Deadline idle;
    private Problem end = UpstreamProblem.NO_WORD;
    /** The upstream's SETTINGS have arrived. */
    private boolean ready;
    /** The connection takes no more exchanges. */
    private boolean retired;
    private boolean adopted;
    private boolean closed;
    private boolean flushScheduled;

    Http2UpstreamConnection(Http2Pool pool, Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder,
            Http2Settings settings) {
        super(decoder, encoder, settings);
        this.pool = pool;
        this.generation = pool.generation();
        this.exchanges = connection().newKey();
        Http2UpstreamEvents events = new Http2UpstreamEvents(this);
        decoder.frameListener(events);
        connection().addListener(events);
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        context = ctx;
        idle = new Deadline(ctx.channel().eventLoop());
        super.handlerAdded(ctx);
    }

    /** Sends the preface, then enlarges the connection's window to hold the windows of all streams. */
    @Override
    public void channelActive(ChannelHandlerContext ctx) throws Exception {
        super.channelActive(ctx);
        Http2Stream whole = connection().connectionStream();
        int all = Http2UpstreamBuilder.MAX_STREAMS * Http2UpstreamBuilder.STREAM_WINDOW;
        decoder().flowController()
                .incrementWindowSize(whole, all - decoder().flowController().initialWindowSize(whole));
        flushLater();
    }

    // ---- for the pool ----

    @Override
    public void adopt() {
        adopted = true;
        if (idle != null && !ready) {
            idle.set(pool.limits().connectTimeout(), this::close);
        }
    }

    /** Whether the connection was dialled under the present configuration of names. */
    boolean isCurrent() {
        return generation == pool.generation();
    }

    @Override
    public void at(Endpoint reached) {
        endpoint = reached;
        tls = TlsLink.agreed(Objects.requireNonNull(context).channel());
    }

    @Override
    public @Nullable KeyExchange tls() {
        return tls;
    }

    @Override
    public Endpoint endpoint() {
        return Objects.requireNonNull(endpoint);
    }

    @Override
    public boolean isUsable() {
        return !closed && !retired && context().channel().isActive() && !connection().goAwayReceived();
    }

    boolean isReady() {
        return ready;
    }

    /** Whether the connection can take one more exchange. */
    boolean hasRoom() {
        return ready && isUsable() && isCurrent() && connection().numActiveStreams() < room()
                && connection().local().lastStreamCreated() < LAST_STREAM;
    }

    /** The maximum number of concurrent exchanges. */
    int room() {
        return Math.min(Http2UpstreamBuilder.MAX_STREAMS, connection().local().maxActiveStreams());
    }

    boolean isIdle() {
        return connection().numActiveStreams() == 0;
    }

    /**
     * Stops taking exchanges, because the name resolves to other addresses now. The pool is iterating over
     * its connections, so the rest runs later.
     */
    void supersede() {
        if (!retired) {
            retired = true;
            context().channel().eventLoop().execute(this::retire);
        }
    }

    /** Finishes the present exchanges and takes no more. */
    void retire() {
        retired = true;
        if (isIdle()) {
            close();
        }
    }

    /** Calls {@link #retire} on a later pass of the event loop. */
    void retireLater() {
        context().channel().eventLoop().execute(this::retire);
    }

    /** Waits for the next exchange. */
    void rest() {
        if (idle != null && !closed) {
            idle.set(pool.limits().idleTimeout(), this::close);
        }
    }

    /** The problem for the exchanges that waited for this connection when it ends unused. */
    Problem end() {
        return end;
    }

    @Override
    public void close() {
        boolean tell = adopted && !closed;
        closed = true;
        if (idle != null) {
            idle.close();
        }
        context().channel().close();
        if (tell) {
            pool.closed(this);
        }
    }

    @Override
    public void abandon() {
        for (Http2Exchange exchange : running()) {
            exchange.fail(UpstreamProblem.DRAINING);
        }
        flush(context());
        close();
    }

    private List<Http2Exchange> running() {
        var running = new ArrayList<Http2Exchange>();
        try {
            connection().forEachActiveStream(stream -> {
                Http2Exchange exchange = stream.getProperty(exchanges);
                return exchange == null || running.add(exchange);
            });
        } catch (Http2Exception e) {
            onError(context(), false, e);
        }
        return running;
    }

    // ---- for exchanges ----

    /** Opens a stream with a head. Passes the stream to the exchange, or fails it. */
    void open(Http2Exchange exchange, Http2Headers head, boolean ended) {
        if (idle != null) {
            idle.clear();
        }
        int id = connection().local().incrementAndGetNextStreamId();
        ChannelFuture written = encoder().writeHeaders(context(), id, head, 0, ended,
                context().newPromise());
        flushLater();
        Http2Stream stream = connection().stream(id);
        if (written.cause() != null || stream == null) {
            exchange.fail(written.cause() instanceof HeaderListSizeException
                    ? UpstreamProblem.HEAD_TOO_LARGE
                    : UpstreamProblem.NO_RESPONSE);
        } else {
            stream.setProperty(exchanges, exchange);
            exchange.opened(this, stream);
        }
    }

    ChannelFuture writeHead(Http2Stream stream, Http2Headers head, boolean ended) {
        flushLater();
        return encoder().writeHeaders(context(), stream.id(), head, 0, ended, context().newPromise());
    }

    /**
     * Writes a part of a body and takes ownership of it. The future completes when the socket has accepted
     * it.
     */
    ChannelFuture writeBody(Http2Stream stream, ByteBuf body, boolean ended) {
        flushLater();
        return encoder().writeData(context(), stream.id(), body, 0, ended, context().newPromise());
    }

    /** Response bytes were consumed. The upstream may send that many more. */
    void consumed(Http2Stream stream, int bytes) {
        try {
            if (decoder().flowController().consumeBytes(stream, bytes)) {
                flushLater();
            }
        } catch (Http2Exception e) {
            onError(context(), false, e);
        }
    }

    /** Detaches the exchange from its stream, which continues. */
    void leave(Http2Stream stream) {
        stream.removeProperty(exchanges);
    }

    /** Detaches the exchange and resets its stream. */
    void reset(Http2Stream stream, Http2Error why) {
        leave(stream);
        if (stream.state() != Http2Stream.State.CLOSED) {
            var _ = resetStream(context(), stream.id(), why.code(), context().newPromise());
            flushLater();
        }
    }

    /** Flushes once at the end of this event-loop pass. */
    private void flushLater() {
        if (!flushScheduled) {
            flushScheduled = true;
            context().channel().eventLoop().execute(() -> {
                flushScheduled = false;
                flush(context());
            });
        }
    }

    // ---- received frames ----

    @Nullable
    Http2Exchange exchangeOf(@Nullable Http2Stream stream) {
        return stream == null ? null : stream.getProperty(exchanges);
    }

    void streamClosed(Http2Stream stream) {
        Http2Exchange exchange = stream.removeProperty(exchanges);
        if (exchange != null) {
            boolean above = connection().goAwayReceived()
                    && stream.id() > connection().local().lastStreamKnownByPeer();
            if (above) {
                exchange.unprocessed(UpstreamProblem.GOING_AWAY);
            } else {
                exchange.connectionLost(end);
            }
        }
        if (!closed) {
            pool.freed(this);
        }
    }

    /** The upstream has sent its first SETTINGS, or new ones. */
    void settingsCame() {
        boolean first = !ready;
        ready = true;
        end = UpstreamProblem.NO_RESPONSE;
        if (adopted && first) {
            pool.ready(this);
        } else if (adopted) {
            pool.freed(this); // the new SETTINGS may allow more streams
        }
    }

    void wasReset(@Nullable Http2Stream stream, long code) {
        Http2Exchange exchange = stream == null ? null : stream.removeProperty(exchanges);
        if (exchange != null) {
            exchange.wasReset(code);
        }
    }

    // ---- errors ----

    @Override
    protected void onStreamError(ChannelHandlerContext ctx, boolean outbound, Throwable cause,
            StreamException error) {
        Http2Exchange exchange = exchangeOf(connection().stream(error.streamId()));
        if (exchange == null) {
            super.onStreamError(ctx, outbound, cause, error);
        } else if (outbound) {
            exchange.fail(UpstreamProblem.HEAD_TOO_LARGE); // its trailers: the head was written
        } else if (error instanceof HeaderListSizeException && exchange.isHeadAwaited()) {
            exchange.largeHead();
        } else {
            exchange.badResponse();
        }
        flushLater();
    }

    @Override
    protected void onConnectionError(ChannelHandlerContext ctx, boolean outbound, Throwable cause,
            @Nullable Http2Exception error) {
        retired = true;
        if (!outbound) {
            end = ready ? UpstreamProblem.BAD_HTTP2 : UpstreamProblem.NO_HTTP2;
        }
        super.onConnectionError(ctx, outbound, cause, error);
    }

    /** A reset by the upstream, or a TLS failure. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
        if (cause instanceof Http2Exception) {
            super.exceptionCaught(ctx, cause);
            return;
        }
        if (!MemoryRefusals.UPSTREAM.counts(cause) && !(cause instanceof IOException)
                && !(cause instanceof DecoderException)) {
            log.atWarn().setCause(cause).log("upstream connection failed");
        }
        ctx.close();
    }

    /** Closes the connection: HTTP/2 has no half-closed connections. */
    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof ChannelInputShutdownEvent) {
            ctx.close();
        }
        super.userEventTriggered(ctx, event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        retired = true;
        super.channelInactive(ctx);
        close();
    }
}
