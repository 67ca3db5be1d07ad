package dev.culvert.relay.outbound;

import dev.culvert.http.net.PassEnd;
import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.tls.KeyExchange;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP/1.1 connection to an upstream, and the last handler of its pipeline. Serves one exchange after the
 * other. All writes of an event-loop pass are flushed together.
 */
final class Http1UpstreamConnection extends ChannelInboundHandlerAdapter implements UpstreamConnection {
    private static final Logger log = LoggerFactory.getLogger(Http1UpstreamConnection.class);
    private static final Pattern KEEP_ALIVE_TIMEOUT = Pattern.compile("(?:^|[ ,;])timeout=(\\d{1,6})");
    /**
     * Subtracted from the upstream's keep-alive time: the upstream counts it from its write, the gateway from
     * its read.
     */
    private static final Duration KEEP_ALIVE_MARGIN = Duration.ofSeconds(1);

    private final Http1Pool pool;
    private final Channel channel;
    private final Http1ResponseDecoder decoder;
    private final Deadline deadline;
    private final int generation;
    private final Runnable flush = this::flush;

    private @Nullable Endpoint endpoint;
    private @Nullable KeyExchange tls;
    private @Nullable Http1Exchange exchange;
    /** The endpoint's token of the present exchange; see {@link Endpoint#end}. */
    private int begun;
    private Duration idleTimeout;
    private @Nullable CharSequence keptFor;
    private boolean flushing;
    private boolean reused;
    private boolean tlsEnded;
    private boolean adopted;
    private boolean closed;

    Http1UpstreamConnection(Http1Pool pool, Channel channel, Http1ResponseDecoder decoder) {
        this.pool = pool;
        this.channel = channel;
        this.decoder = decoder;
        this.generation = pool.generation();
        this.deadline = new Deadline(channel.eventLoop());
        this.idleTimeout = pool.limits().idleTimeout();
    }

    // ---- for the pool ----

    @Override
    public void adopt() {
        adopted = true;
    }

    /** Whether the connection was dialled under the present configuration of names. */
    boolean isCurrent() {
        return generation == pool.generation();
    }

    @Override
    public void at(Endpoint reached) {
        endpoint = reached;
        tls = TlsLink.agreed(channel);
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
        return !closed && channel.isActive() && !decoder.isReceiving();
    }

    /** Waits for the next exchange, at most as long as the upstream keeps the connection. */
    void rest() {
        deadline.set(idleTimeout, this::close);
    }

    // ---- for the exchange ----

    ByteBufAllocator allocator() {
        return channel.alloc();
    }

    Deadline deadline() {
        return deadline;
    }

    /** Whether the connection served an exchange before the present one. */
    boolean isReused() {
        return reused;
    }

    /** Whether any bytes of the response arrived. */
    boolean isReceiving() {
        return decoder.isReceiving();
    }

    /**
     * Whether the peer ended the input on purpose (RFC 9112 §9.8: with TLS, only a close_notify shows that).
     */
    boolean isEndedByPeer() {
        return tlsEnded || channel.pipeline().get(SslHandler.class) == null;
    }

    void begin(Http1Exchange next, boolean toHead) {
        deadline.clear();
        exchange = next;
        begun = endpoint().begin();
        decoder.expect(toHead);
    }

    /** Writes bytes, which leave with the next flush. Takes ownership of {@code bytes}. */
    ChannelFuture write(ByteBuf bytes) {
        if (!flushing) {
            flushing = true;
            PassEnd.run(channel.eventLoop(), flush);
        }
        return channel.write(bytes);
    }

    private void flush() {
        flushing = false;
        channel.flush();
    }

    /** Ends the output: the upstream sees that no more raw bytes follow. */
    void endOutput() {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls != null) {
            tls.closeOutbound();
        } else if (channel instanceof DuplexChannel socket) {
            socket.shutdownOutput();
        }
    }

    void pause() {
        channel.config().setAutoRead(false);
    }

    void resume() {
        if (!channel.config().isAutoRead()) {
            channel.config().setAutoRead(true);
        }
    }

    /** Reads from a response's {@code Keep-Alive} how long the upstream keeps the connection. */
    void keepFor(@Nullable CharSequence value) {
        if (value != null && !AsciiString.contentEquals(value, keptFor)) {
            keptFor = value;
            Matcher matcher = KEEP_ALIVE_TIMEOUT.matcher(value);
            if (matcher.find()) {
                Duration kept = Duration.ofSeconds(Integer.parseInt(matcher.group(1)))
                        .minus(KEEP_ALIVE_MARGIN);
                idleTimeout = kept.compareTo(pool.limits().idleTimeout()) < 0
                        ? kept
                        : pool.limits().idleTimeout();
            }
        }
    }

    /** Switches from HTTP to raw bytes. Raw bytes already received follow at once. */
    void switchToRaw() {
        channel.pipeline().remove(decoder);
    }

    /** The exchange is complete in both directions: returns the connection to the pool. */
    void release() {
        leave();
        reused = true;
        decoder.rest();
        resume();
        pool.release(this);
    }

    /** Closes the socket. The exchange receives no more calls. */
    @Override
    public void close() {
        boolean tell = adopted && !closed;
        closed = true;
        leave();
        deadline.close();
        channel.close();
        if (tell) {
            pool.closed(this);
        }
    }

    private void leave() {
        if (exchange != null) {
            exchange = null;
            endpoint().end(begun);
        }
    }

    @Override
    public void abandon() {
        Http1Exchange to = exchange;
        if (to != null) {
            to.fail(UpstreamProblem.DRAINING);
        }
        close();
    }

    // ---- for the pipeline ----

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        Http1Exchange to = exchange;
        if (to == null) {
            release(message);
            close(); // bytes without a request
        } else if (message instanceof WholeResponse response) {
            to.whole(response);
        } else if (message instanceof ByteBuf bytes) {
            to.responseData(bytes);
        } else if (message instanceof HttpObject part) {
            http(to, part);
        }
    }

    private static void release(Object message) {
        ReferenceCountUtil.release(message instanceof WholeResponse response ? response.body() : message);
    }

    private void http(Http1Exchange to, HttpObject part) {
        if (part.decoderResult().isFailure()) {
            ReferenceCountUtil.release(part);
            Throwable cause = part.decoderResult().cause();
            if (cause instanceof PrematureChannelClosureException) {
                to.inputEnded(true); // the connection ended within a head
            } else {
                to.badResponse(cause);
            }
            return;
        }
        if (part instanceof HttpResponse head) {
            to.head(head);
        }
        if (part instanceof HttpContent content) {
            to.responseData(content.content());
            if (content instanceof LastHttpContent last) {
                endOfMessage(to, last);
            }
        }
    }

    /**
     * Passes the end of a message on. The asker may have cancelled, or the exchange failed, during the call
     * just before.
     */
    private void endOfMessage(Http1Exchange to, LastHttpContent last) {
        if (exchange == to) {
            to.responseEnd(last.trailingHeaders());
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputEnded(false);
        } else if (event instanceof SslCloseCompletionEvent completion) {
            tlsEnded = completion.isSuccess();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        inputEnded(true);
        close();
    }

    /** A reset by the upstream, or a TLS failure: an end of input after it is not a clean one. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!MemoryRefusals.UPSTREAM.counts(cause) && !(cause instanceof IOException)
                && !(cause instanceof DecoderException)) {
            log.atWarn().setCause(cause).log("upstream connection failed");
        }
        inputEnded(true);
        close();
    }

    private void inputEnded(boolean dead) {
        Http1Exchange to = exchange;
        if (to == null) {
            close();
        } else {
            to.inputEnded(dead);
        }
    }
}
