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
 * The request's half of an HTTP/2 exchange after its head. Holds bytes that arrive before the exchange has a
 * stream. Also keeps the first {@link #KEPT_BYTES} sent bytes, as long as the upstream may still report that
 * it has not processed the request.
 */
public final class Http2RequestBody {
    /** Enough for most calls, and for those lost when an upstream goes away, because they have just begun. */
    public static final int KEPT_BYTES = 16 << 10;

    private final Http2Exchange exchange;
    private final LongAdder buffered;
    private final long length;
    private final boolean empty;
    /**
     * The parts that wait for a stream: first those that were sent before and reported as consumed, then
     * {@code held}.
     */
    private final BodyQueue again = new BodyQueue();
    private final BodyQueue held = new BodyQueue();
    private final BodyQueue kept = new BodyQueue();
    private final BodyWriter writer = new BodyWriter(part -> write(part, false));
    private long bytes;
    private int keptBytes;
    /** Some sent bytes are no longer kept. */
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

    /** Whether the head contradicts the exchange about the body. */
    boolean isContradictory() {
        return length == DeclaredLength.INVALID || (empty && length > 0);
    }

    /** Whether the request has no body. */
    boolean isEmpty() {
        return empty;
    }

    /** Whether the asker has ended the body. */
    boolean isEnded() {
        return ended;
    }

    /** Whether the whole body was written to the upstream's socket. */
    boolean isWritten() {
        return written;
    }

    /** Starts writing, after the head. */
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

    /**
     * Receives a part of the body and takes ownership of it. Returns false if the body is longer than its
     * declared length.
     */
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

    /** Ends the body. Returns false if the body is shorter than its declared length. */
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

    /**
     * Takes back the sent bytes, to send them again on another stream. Returns false if they are no longer
     * kept.
     */
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

    /** The upstream processes the request, which is therefore not sent again. */
    void forgetSent() {
        forgotten = true;
        keptBytes = 0;
        for (ByteBuf part = kept.poll(); part != null; part = kept.poll()) {
            drop(part, true);
        }
    }

    /** Drops the held bytes and all later ones. */
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

    /** @param repeated whether the part was sent before and reported as consumed */
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
