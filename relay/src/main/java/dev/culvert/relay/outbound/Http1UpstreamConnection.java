package dev.culvert.relay.outbound;

import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.relay.listen.Deadline;
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
 * One connection to an upstream, and the last handler of its pipeline: serves one exchange after the other. All writes of
 * an event-loop pass leave in one flush.
 */
final class Http1UpstreamConnection extends ChannelInboundHandlerAdapter implements UpstreamConnection {
    private static final Logger log = LoggerFactory.getLogger(Http1UpstreamConnection.class);
    private static final Pattern KEEP_ALIVE_TIMEOUT = Pattern.compile("(?:^|[ ,;])timeout=(\\d{1,6})");
    /** The server's clock starts when it wrote, ours when we read. */
    private static final Duration KEEP_ALIVE_MARGIN = Duration.ofSeconds(1);

    private final Http1Pool pool;
    private final Channel channel;
    private final Http1ResponseDecoder decoder;
    private final Deadline deadline;
    private final int generation;
    private final Runnable flush = this::flush;

    private @Nullable Endpoint endpoint;
    private @Nullable Http1Exchange exchange;
    /** What the endpoint made of the exchange. */
    private int begun;
    private Duration idleTimeout;
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

    /** Whether it leads to where its upstream is now. */
    boolean isCurrent() {
        return generation == pool.generation();
    }

    @Override
    public void at(Endpoint reached) {
        endpoint = reached;
    }

    /** The address that it leads to. */
    Endpoint endpoint() {
        return Objects.requireNonNull(endpoint);
    }

    @Override
    public boolean isUsable() {
        return !closed && channel.isActive() && !decoder.isReceiving();
    }

    /** Waits for the next exchange, for as long as the upstream may keep it. */
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

    /** Whether the exchange that runs is not its first. */
    boolean isReused() {
        return reused;
    }

    /** Whether anything of the response came. */
    boolean isReceiving() {
        return decoder.isReceiving();
    }

    /** Whether the end of the input is meant (RFC 9112 §9.8: with TLS, only if it says so). */
    boolean isEndedByPeer() {
        return tlsEnded || channel.pipeline().get(SslHandler.class) == null;
    }

    void begin(Http1Exchange next, boolean toHead) {
        deadline.clear();
        exchange = next;
        begun = endpoint().begin();
        decoder.expect(toHead);
    }

    /** Writes with the next flush. Takes ownership of {@code bytes}. */
    ChannelFuture write(ByteBuf bytes) {
        if (!flushing) {
            flushing = true;
            channel.eventLoop().execute(flush);
        }
        return channel.write(bytes);
    }

    private void flush() {
        flushing = false;
        channel.flush();
    }

    /** Tells the upstream that no more raw bytes will come. */
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

    /** Learns from a response how long the upstream keeps the connection. */
    void keepFor(HttpResponse head) {
        String value = head.headers().get("keep-alive");
        if (value != null) {
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

    /** What came is a response: the address serves. */
    void answered() {
        pool.endpoints().succeeded(endpoint());
    }

    /** The exchange got no response. */
    void failed() {
        pool.endpoints().failed(endpoint());
    }

    /** From now on there is no HTTP; bytes that came already follow at once. */
    void switchToRaw() {
        channel.pipeline().remove(decoder);
    }

    /** The exchange is complete, in both directions: the next one may come. */
    void release() {
        leave();
        reused = true;
        decoder.rest();
        resume();
        pool.release(this);
    }

    /** Closes the socket. The exchange hears no more. */
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
            ReferenceCountUtil.release(message);
            close(); // nobody asked
        } else if (message instanceof ByteBuf bytes) {
            to.responseData(bytes);
        } else if (message instanceof HttpObject part) {
            http(to, part);
        }
    }

    private void http(Http1Exchange to, HttpObject part) {
        if (part.decoderResult().isFailure()) {
            ReferenceCountUtil.release(part);
            if (part.decoderResult().cause() instanceof PrematureChannelClosureException) {
                to.inputEnded(true); // it ended within a head
            } else {
                to.badResponse();
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

    /** The asker may have cancelled, or the exchange failed, within what came just before. */
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

    /** Reset by the upstream, or broken TLS: whatever ends after this has not ended well. */
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
