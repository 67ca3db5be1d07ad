package dev.culvert.relay.inbound.raw;

import dev.culvert.config.IpText;
import dev.culvert.http.net.LingeringClose;
import dev.culvert.http.net.RawSocket;
import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.protocol.body.BodyWriter;
import dev.culvert.relay.Caller;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.exchange.BodyStream;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeProblems;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.listen.CallerAddress;
import dev.culvert.relay.listen.ClientHelloReader;
import dev.culvert.relay.listen.ConnectionPlace;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.listen.RelayListener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's connection that is passed through without decryption. The ClientHello names its target; then
 * bytes are forwarded unchanged in both directions.
 *
 * <pre>
 *  HELLO ──whole, its name known──► OPEN ──both halves ended──► closed
 *    │ └─ slow, no ClientHello: closed     └─ either side reset, CUT: reset
 *    └─ refused: an alert, closed
 * </pre>
 */
final class RawConnection extends ChannelInboundHandlerAdapter implements BodyStream {
    private static final Logger log = LoggerFactory.getLogger(RawConnection.class);
    /** The number of bytes not forwarded yet at which reading from the socket stops. */
    static final int HIGH_WATER = 64 << 10;
    private static final int LOW_WATER = 32 << 10;

    private final EdgeContext shared;
    private final Channel channel;
    private final Deadline deadline;
    private @Nullable ClientHelloReader hello;
    private @Nullable RawExchange exchange;
    private long unconsumed;
    private final BodyWriter writer = new BodyWriter(this::writePart);
    private final ChannelFutureListener written = this::written;
    private boolean flushScheduled;

    RawConnection(EdgeContext shared, Channel channel) {
        this.shared = shared;
        this.channel = channel;
        this.deadline = new Deadline(channel.eventLoop());
        this.hello = new ClientHelloReader(channel.alloc());
        deadline.set(shared.limits().headTimeout(), () -> refuse(
                Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "the ClientHello did not arrive in time")));
    }

    EdgeContext shared() {
        return shared;
    }

    /** The caller's address, as text; empty if it is unknown. */
    String caller() {
        InetAddress address = CallerAddress.of(channel).getAddress();
        return address == null ? "" : IpText.of(address);
    }

    // ---- from the caller ----

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        RawExchange to = exchange;
        ClientHelloReader reader = hello;
        if (!(message instanceof ByteBuf bytes)) {
            ReferenceCountUtil.release(message);
        } else if (to != null) {
            to.received(bytes);
            regulate();
        } else if (reader != null) {
            read(reader, bytes);
        } else {
            bytes.release();
        }
    }

    private void read(ClientHelloReader reader, ByteBuf bytes) {
        try {
            if (reader.take(bytes)) {
                forward(reader);
            }
        } catch (EdgeException e) {
            refuse(e.problem());
        }
    }

    /** Forwards the connection, with all bytes received so far. */
    private void forward(ClientHelloReader reader) {
        RawTarget target = RawTarget.of(reader.serverName(), shared.runtimes());
        EdgeRuntimes.RuntimeEndpoint runtime = target.runtime();
        if (runtime.restricted()) {
            // The rules check properties of requests, which encrypted bytes do not show.
            throw new EdgeException(Problem.of(Cause.NOT_ALLOWED, Hop.EDGE,
                    "the runtime has access rules, so raw connections are refused"));
        }
        Caller caller = Caller.of(CallerAddress.of(channel).getAddress(), channel);
        runtime.quota().admitConnection(caller.account());
        deadline.close();
        ConnectionPlace.of(channel).busy();
        RawExchange opened = new RawExchange(this, runtime);
        exchange = opened;
        opened.open(RelayRequest.tcp(target.name(), target.service(), loop(), caller));
        opened.received(reader.bytes());
        hello = null;
        regulate();
    }

    /** Starts or stops reading from the socket, by the number of bytes that wait to be forwarded. */
    void regulate() {
        RawExchange from = exchange;
        if (from == null || from.isOver() || isInputEnded()) {
            return; // Netty's epoll has removed a socket whose input has ended
        }
        boolean reading = channel.config().isAutoRead();
        boolean stopped = from.isStopped();
        if (reading && (stopped || from.unforwarded() >= HIGH_WATER)) {
            channel.config().setAutoRead(false);
        } else if (!reading && !stopped && from.unforwarded() <= LOW_WATER) {
            channel.config().setAutoRead(true);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        RawExchange to = exchange;
        if (event instanceof ChannelInputShutdownEvent) {
            if (to == null || to.isOver()) {
                ctx.close();
            } else {
                to.receivedEnd();
            }
        } else if (event.equals(RelayListener.DRAIN) && to == null) {
            // A ClientHello may still arrive.
            loop().schedule(() -> {
                if (exchange == null) {
                    ctx.close();
                }
            }, EdgeContext.DRAIN_IDLE.toMillis(), TimeUnit.MILLISECONDS);
        } else if (event.equals(RelayListener.CUT)) {
            cut(to);
        }
        ctx.fireUserEventTriggered(event);
    }

    private void cut(@Nullable RawExchange running) {
        if (running == null) {
            channel.close();
        } else {
            running.abandon(EdgeProblems.STOPPING);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        deadline.close();
        dropHello();
        RawExchange gone = exchange;
        if (gone != null) {
            gone.callerGone();
        }
        ctx.fireChannelInactive();
    }

    /** A reset by the caller. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!MemoryRefusals.CALLER.counts(cause) && !(cause instanceof IOException)) {
            log.atWarn().setCause(cause).log("raw connection failed");
        }
        RawSocket.reset(channel);
    }

    // ---- to the caller ----

    @Override
    public EventLoop loop() {
        return channel.eventLoop();
    }

    @Override
    public Duration stallTimeout() {
        return shared.limits().responseStallTimeout();
    }

    @Override
    public void data(ByteBuf body) {
        unconsumed += body.readableBytes();
        writer.data(body);
    }

    private void writePart(ByteBuf part) {
        channel.write(part).addListener(written);
        flushLater();
    }

    private void written(ChannelFuture part) {
        if (!part.isSuccess()) {
            writer.close();
        }
        writer.taken();
    }

    /** Closes the caller's half after all written bytes, because the upstream has closed its half. */
    void endOutput(Runnable then) {
        writer.flush();
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
            if (written.isSuccess() && channel instanceof SocketChannel socket) {
                socket.shutdownOutput().addListener(done -> then.run());
            }
        });
    }

    /** Closes the connection, whose halves are both closed. */
    void close() {
        writer.close();
        channel.close();
    }

    /** Refuses the handshake: sends a TLS alert if one fits the problem, and closes. */
    void refuse(Problem problem) {
        shared.telemetry().problem(problem);
        dropHello();
        TlsAlert alert = TlsAlert.of(problem);
        if (alert == null) {
            channel.close();
            return;
        }
        deadline.clear();
        ChannelFuture told = channel.writeAndFlush(alert.record());
        if (isInputEnded()) {
            told.addListener(ChannelFutureListener.CLOSE); // the caller has closed its half
        } else {
            LingeringClose.begin(channel, told);
        }
    }

    private boolean isInputEnded() {
        return channel instanceof SocketChannel socket && socket.isInputShutdown();
    }

    void reset() {
        writer.close();
        RawSocket.reset(channel);
    }

    private void dropHello() {
        ClientHelloReader reader = hello;
        hello = null;
        if (reader != null) {
            reader.release();
        }
    }

    private void flushLater() {
        if (!flushScheduled) {
            flushScheduled = true;
            loop().execute(this::flush);
        }
    }

    private void flush() {
        flushScheduled = false;
        channel.flush();
        tellPassedOn();
    }

    private void tellPassedOn() {
        RawExchange from = exchange;
        if (from != null) {
            from.passedOn();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        tellPassedOn();
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public int passedOn() {
        var outbound = channel.unsafe().outboundBuffer();
        long pending = (outbound == null ? 0 : outbound.totalPendingWriteBytes()) + writer.waitingBytes();
        return taken(unconsumed - Math.min(unconsumed, pending));
    }

    @Override
    public int rest() {
        return taken(unconsumed);
    }

    private int taken(long bytes) {
        unconsumed -= bytes;
        return Math.toIntExact(bytes);
    }

    @Override
    public void whenWritten(Runnable then) {
        writer.flush();
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> then.run());
    }
}
