package dev.culvert.relay.outbound;

import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.net.RawSocket;
import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.http.problem.Problem;
import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.protocol.body.BodyWriter;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.ResponseCredit;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One raw connection and its own socket to the upstream. Each half ends separately. A reset of one side
 * resets the other. Bytes that arrive before the socket is connected are held; the asker's own credit bounds
 * them. Used only on its event loop.
 *
 * <pre>
 * output: OPEN ─┬─► ENDING ───┬─► ENDED      input: OPEN ──► ENDING ──► ENDED
 *               └─► REFUSED ──┘
 * both ENDED, failed or cancelled: over
 * </pre>
 */
final class TcpExchange extends ChannelInboundHandlerAdapter implements RequestSink, UpstreamConnection {
    private static final Logger log = LoggerFactory.getLogger(TcpExchange.class);
    /**
     * The maximum number of request bytes dropped for an upstream that has ended its output and accepts
     * nothing more.
     */
    private static final int MAX_DROPPED = 1 << 20;

    /** The half from the asker to the upstream. */
    private enum Output {
        OPEN,
        /** The asker has ended it. The socket has not. */
        ENDING,
        /** The upstream accepts nothing more. The asker's bytes are dropped until it ends. */
        REFUSED, ENDED
    }

    /** The half from the upstream to the asker. */
    private enum Input {
        OPEN,
        /** The upstream has ended it. Its last bytes may still be in the backlog. */
        ENDING, ENDED
    }

    private final LoopUpstreams upstreams;
    private final UpstreamAddress address;
    private final ResponseSink response;
    private final ResponseCredit credit;
    private final BodyQueue held = new BodyQueue();
    /**
     * Bytes read beyond the credit: when a peer closes its half, Netty's epoll reads everything that the
     * kernel holds.
     */
    private final BodyQueue backlog = new BodyQueue();
    private final BodyWriter toUpstream = new BodyWriter(this::write);
    private @Nullable Channel channel;
    private @Nullable Endpoint endpoint;
    private int begun;
    private boolean flushScheduled;
    private Output output = Output.OPEN;
    private Input input = Input.OPEN;
    /** The upstream reset the connection. Reported after all bytes that it sent before. */
    private boolean broken;
    private int dropped;
    /** Nothing is forwarded any more, in either direction. */
    private boolean over;
    private boolean counted;

    TcpExchange(LoopUpstreams upstreams, UpstreamAddress address, ResponseSink response) {
        this.upstreams = upstreams;
        this.address = address;
        this.response = response;
        this.credit = new ResponseCredit(upstreams.buffered());
    }

    void start() {
        counted = true;
        upstreams.opened();
        Endpoints endpoints = upstreams.endpoints(address);
        upstreams.refresh(address, endpoints);
        upstreams.dial(address, endpoints, null, this::install, new UpstreamDialler.Outcome<>() {
            @Override
            public void connected(TcpExchange connection) {
                endpoints.succeeded(endpoint());
                TcpExchange.this.connected();
            }

            @Override
            public void failed(Problem problem) {
                uncount();
                fail(problem);
            }

            @Override
            public boolean isWanted() {
                return !over;
            }
        });
    }

    /** The handler is added to one channel after the other, until one of them connects. */
    @Override
    public boolean isSharable() {
        return true;
    }

    private TcpExchange install(Channel connecting) {
        RawSocket.prepare(connecting);
        channel = connecting;
        connecting.pipeline().addLast(HandlerNames.RAW, this);
        return this;
    }

    private void connected() {
        if (over) {
            close();
            return;
        }
        response.head(new DefaultHttp2Headers(false, 1).status("200"), false);
        for (ByteBuf part = held.poll(); part != null; part = held.poll()) {
            toUpstream.data(part);
        }
        endOutput();
    }

    private boolean isConnected() {
        Channel to = channel;
        return to != null && to.isActive();
    }

    // ---- from the asker ----

    @Override
    public void data(ByteBuf body) {
        int size = body.readableBytes();
        if (over || output != Output.OPEN) {
            body.release();
            if (!over && output == Output.REFUSED) {
                drop(size);
            }
            return;
        }
        upstreams.buffered().add(size);
        if (isConnected() && held.isEmpty()) {
            toUpstream.data(body);
        } else {
            held.add(body);
        }
    }

    private void write(ByteBuf body) {
        Channel to = channel;
        if (to == null) {
            body.release();
            return;
        }
        int size = body.readableBytes();
        to.write(body).addListener(written -> {
            upstreams.buffered().add(-size);
            toUpstream.taken();
            if (written.isSuccess()) {
                response.consumed(size);
            } else {
                outputBroken(size);
            }
        });
        if (!flushScheduled) {
            flushScheduled = true;
            to.eventLoop().execute(() -> {
                flushScheduled = false;
                to.flush();
            });
        }
    }

    /**
     * A write failed: the upstream accepts nothing more. This is a reset unless the upstream has ended its
     * output. The kernel may still hold bytes from the upstream, so the end of the input follows later.
     */
    private void outputBroken(int bytes) {
        if (!over) {
            broken |= input == Input.OPEN;
            outputEnded();
            drop(bytes);
        }
    }

    /**
     * Drops bytes instead of resetting at once: the upstream's last bytes may still be on their way to the
     * caller, and a reset would overtake them.
     */
    private void drop(int bytes) {
        dropped += bytes;
        response.consumed(bytes);
        if (dropped > MAX_DROPPED) {
            fail(UpstreamProblem.BROKEN_CONNECTION);
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (output == Output.REFUSED) {
            output = Output.ENDED;
            closeIfDone();
        } else if (output == Output.OPEN) {
            output = Output.ENDING;
            endOutput();
        }
    }

    /** Ends the socket's output, when it is connected and the asker has ended its half. */
    private void endOutput() {
        Channel to = channel;
        if (over || output != Output.ENDING || to == null || !to.isActive()) {
            return;
        }
        toUpstream.flush();
        to.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
            if (written.isSuccess() && to instanceof DuplexChannel socket) {
                socket.shutdownOutput().addListener(done -> {
                    outputEnded();
                    closeIfDone();
                });
            } else {
                outputBroken(0);
                closeIfDone();
            }
        });
    }

    /** The socket takes no more bytes. */
    private void outputEnded() {
        output = output == Output.OPEN || output == Output.REFUSED ? Output.REFUSED : Output.ENDED;
    }

    @Override
    public void cancel(Problem reason) {
        if (!over) {
            over();
            reset();
        }
    }

    @Override
    public void consumed(int bytes) {
        credit.consumed(bytes);
        if (over) {
            return;
        }
        while (!credit.isUsedUp() && !backlog.isEmpty()) {
            ByteBuf next = Objects.requireNonNull(backlog.poll());
            upstreams.buffered().add(-next.readableBytes());
            pass(next);
        }
        endIfRead();
        Channel from = channel;
        // Netty's epoll has removed a socket whose input has ended
        if (from != null && !over && input == Input.OPEN && credit.isThere() && !from.config().isAutoRead()) {
            from.config().setAutoRead(true);
        }
    }

    // ---- from the upstream ----

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (over || input != Input.OPEN || !(message instanceof ByteBuf body)) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (credit.isUsedUp() || !backlog.isEmpty()) {
            upstreams.buffered().add(body.readableBytes());
            backlog.add(body);
        } else {
            pass(body);
        }
        if (credit.isUsedUp()) {
            ctx.channel().config().setAutoRead(false);
        }
    }

    private void pass(ByteBuf body) {
        credit.received(body.readableBytes());
        response.data(body);
    }

    private void endIfRead() {
        if (input == Input.OPEN || !backlog.isEmpty() || over) {
            return;
        }
        if (broken) {
            fail(UpstreamProblem.BROKEN_CONNECTION);
        } else if (input == Input.ENDING) {
            input = Input.ENDED;
            response.end(null);
            closeIfDone();
        }
    }

    /** The socket gives no more bytes. */
    private void inputEnded() {
        if (input == Input.OPEN) {
            input = Input.ENDING;
        }
        endIfRead();
    }

    private void inputBroken() {
        broken = true;
        outputEnded();
        inputEnded();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputEnded();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        inputBroken();
        close();
    }

    /** A reset by the upstream. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!MemoryRefusals.UPSTREAM.counts(cause) && !(cause instanceof IOException)) {
            log.atWarn().setCause(cause).log("raw connection to an upstream failed");
        }
        if (input == Input.OPEN) {
            inputBroken();
        } else {
            outputBroken(0);
        }
    }

    // ---- the end ----

    private void closeIfDone() {
        if (!over && output == Output.ENDED && input == Input.ENDED) {
            over();
            close();
        }
    }

    private void fail(Problem problem) {
        if (!over) {
            over();
            response.fail(problem);
            reset();
        }
    }

    private void over() {
        over = true;
        credit.forget();
        upstreams.buffered().add(-toUpstream.waitingBytes());
        toUpstream.close();
        drop(held);
        drop(backlog);
    }

    private void drop(BodyQueue parts) {
        for (ByteBuf part = parts.poll(); part != null; part = parts.poll()) {
            upstreams.buffered().add(-part.readableBytes());
            part.release();
        }
    }

    private void reset() {
        Channel socket = channel;
        if (socket != null) {
            RawSocket.reset(socket);
        }
    }

    private void uncount() {
        if (counted) {
            counted = false;
            if (endpoint != null) {
                endpoint.end(begun);
            }
            upstreams.forget(this);
            upstreams.closed();
        }
    }

    // ---- for the loop's upstreams ----

    @Override
    public void adopt() {}

    @Override
    public void at(Endpoint reached) {
        endpoint = reached;
        begun = reached.begin();
    }

    @Override
    public Endpoint endpoint() {
        return Objects.requireNonNull(endpoint);
    }

    @Override
    public boolean isUsable() {
        return isConnected();
    }

    @Override
    public void close() {
        Channel socket = channel;
        if (socket != null) {
            socket.close();
        }
        uncount();
    }

    @Override
    public void abandon() {
        fail(UpstreamProblem.DRAINING);
        close();
    }
}
