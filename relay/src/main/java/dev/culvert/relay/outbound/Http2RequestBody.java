package dev.culvert.relay.outbound;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.protocol.body.BodyWriter;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.upstream.DeclaredLength;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The request's half of an HTTP/2 exchange after its head. Holds what comes before there is a stream, and for as long as
 * the upstream may say that it has not looked at it, the first {@link #KEPT_BYTES} of what was sent.
 */
public final class Http2RequestBody {
    /** Enough for most calls, and for all that are lost when an upstream goes away, as they have just begun. */
    public static final int KEPT_BYTES = 16 << 10;

    private final Http2Exchange exchange;
    private final LongAdder buffered;
    private final long length;
    private final boolean empty;
    /** Waits for a stream: what was sent before, and reported as consumed, and behind it what was not. */
    private final BodyQueue again = new BodyQueue();
    private final BodyQueue held = new BodyQueue();
    private final BodyQueue kept = new BodyQueue();
    private final BodyWriter writer = new BodyWriter(part -> write(part, false));
    private long bytes;
    private int keptBytes;
    /** Not all that was sent is kept. */
    private boolean forgotten;
    private @Nullable Http2Headers trailers;
    private boolean ended;
    private boolean written;
    private boolean discarding;
    private @Nullable Http2UpstreamConnection connection;
    private @Nullable Http2Stream stream;

    Http2RequestBody(Http2Exchange exchange, RelayRequest request, LongAdder buffered) {
        this.exchange = exchange;
        this.buffered = buffered;
        empty = request.ended();
        ended = empty;
        length = DeclaredLength.of(request.fields());
    }

    /** Whether the head says one thing about the body, and the exchange another. */
    boolean isContradictory() {
        return length == DeclaredLength.INVALID || (empty && length > 0);
    }

    /** Whether the head is all of the request. */
    boolean isEmpty() {
        return empty;
    }

    /** Whether all of it was given to us. */
    boolean isEnded() {
        return ended;
    }

    /** Whether all of it was written to the upstream's socket. */
    boolean isWritten() {
        return written;
    }

    /** Begins to write, behind the head. */
    void start(Http2UpstreamConnection upstream, Http2Stream opened) {
        connection = upstream;
        stream = opened;
        if (empty) {
            written = true;
            exchange.requestWritten();
            return;
        }
        for (ByteBuf part = again.poll(); part != null; part = again.poll()) {
            write(part, true);
        }
        for (ByteBuf part = held.poll(); part != null; part = held.poll()) {
            writer.data(part);
        }
        if (ended) {
            writeEnd();
        }
    }

    /** Takes a part of the body, and ownership of {@code body}. False: it is longer than the head said. */
    boolean data(ByteBuf body) {
        int size = body.readableBytes();
        bytes += size;
        buffered.add(size);
        boolean tooLong = length >= 0 && bytes > length;
        if (discarding || ended || tooLong || size == 0) {
            drop(body, false);
            return discarding || ended || !tooLong;
        }
        if (stream == null) {
            held.add(body);
        } else {
            writer.data(body);
        }
        return true;
    }

    /** Ends the body. False: it is shorter than the head said. */
    boolean end(@Nullable Http2Headers trailers) {
        if (ended) {
            return true;
        }
        ended = true;
        this.trailers = Http2UpstreamRequest.trailers(trailers);
        if (discarding) {
            return true;
        }
        if (length >= 0 && bytes < length) {
            return false;
        }
        if (stream != null) {
            writeEnd();
        }
        return true;
    }

    /** Takes back what was sent, to send it again on another stream. False: it can't. */
    boolean rewind() {
        if (forgotten || discarding) {
            return false;
        }
        stream = null;
        connection = null;
        written = false;
        keptBytes = 0;
        for (ByteBuf part = kept.poll(); part != null; part = kept.poll()) {
            again.add(part);
        }
        ByteBuf waiting = writer.takeBack();
        if (waiting != null) {
            held.add(waiting);
        }
        return true;
    }

    /** The upstream has begun with the request: it won't be sent again. */
    void forgetSent() {
        forgotten = true;
        keptBytes = 0;
        for (ByteBuf part = kept.poll(); part != null; part = kept.poll()) {
            drop(part, true);
        }
    }

    /** From now on bytes are dropped, and those held. */
    void discard() {
        discarding = true;
        stream = null;
        connection = null;
        forgetSent();
        for (ByteBuf part = again.poll(); part != null; part = again.poll()) {
            drop(part, true);
        }
        ByteBuf waiting = writer.takeBack();
        if (waiting != null) {
            drop(waiting, false);
        }
        for (ByteBuf part = held.poll(); part != null; part = held.poll()) {
            drop(part, false);
        }
    }

    /** @param repeated whether it was sent before, and reported as consumed */
    private void drop(ByteBuf part, boolean repeated) {
        int size = part.readableBytes();
        buffered.add(-size);
        part.release();
        if (!repeated && size > 0) {
            exchange.requestDropped(size);
        }
    }

    private void write(ByteBuf part, boolean repeated) {
        Http2UpstreamConnection upstream = connection;
        Http2Stream to = stream;
        if (upstream == null || to == null) {
            drop(part, repeated);
            if (!repeated) {
                writer.taken();
            }
            return;
        }
        keep(part);
        int size = part.readableBytes();
        upstream.writeBody(to, part, false).addListener((ChannelFutureListener) future -> {
            buffered.add(-size);
            if (!repeated) {
                exchange.requestConsumed(size);
                writer.taken();
            }
        });
    }

    private void keep(ByteBuf part) {
        int size = part.readableBytes();
        if (!forgotten && keptBytes + size <= KEPT_BYTES) {
            kept.add(part.retainedSlice());
            keptBytes += size;
            buffered.add(size);
        } else {
            forgetSent();
        }
    }

    private void writeEnd() {
        Http2UpstreamConnection upstream = connection;
        Http2Stream to = stream;
        if (upstream != null && to != null) {
            writer.flush();
            ChannelFuture last = trailers == null
                    ? upstream.writeBody(to, Unpooled.EMPTY_BUFFER, true)
                    : upstream.writeHead(to, trailers, true);
            last.addListener(future -> {
                if (future.isSuccess() && to.equals(stream)) {
                    written = true;
                    exchange.requestWritten();
                }
            });
        }
    }
}
