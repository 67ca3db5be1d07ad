package dev.culvert.relay.outbound;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.relay.RelayRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The request's half of an HTTP/2 exchange after its head. Keeps the first {@link #KEPT_BYTES} sent bytes, as
 * long as the upstream may still report that it has not processed the request.
 */
public final class Http2RequestBody extends RequestBody {
    /** Enough for most calls, and for those lost when an upstream goes away, because they have just begun. */
    public static final int KEPT_BYTES = 16 << 10;

    /** The parts that were sent before and reported as consumed. They are sent before the held ones. */
    private final BodyQueue again = new BodyQueue();
    private final BodyQueue kept = new BodyQueue();
    private int keptBytes;
    /** Some sent bytes are no longer kept. */
    private boolean forgotten;
    private @Nullable Http2UpstreamConnection connection;
    private @Nullable Http2Stream stream;

    Http2RequestBody(Http2Exchange exchange, RelayRequest request, LongAdder buffered) {
        super(exchange, request, buffered);
    }

    /** Starts writing, after the head. */
    void start(Http2UpstreamConnection upstream, Http2Stream opened) {
        connection = upstream;
        stream = opened;
        if (empty) {
            written();
            return;
        }
        for (ByteBuf part = again.poll(); part != null; part = again.poll()) {
            write(part, true);
        }
        writeHeld();
    }

    @Override
    boolean isWritable() {
        return stream != null;
    }

    /**
     * Takes back the sent bytes, to send them again on another stream. Returns false if they are no longer
     * kept.
     */
    boolean rewind() {
        if (forgotten || isDiscarding()) {
            return false;
        }
        stream = null;
        connection = null;
        startAgain();
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
        release(kept);
    }

    @Override
    void discard() {
        stream = null;
        connection = null;
        forgetSent();
        release(again);
        super.discard();
    }

    private void release(BodyQueue parts) {
        for (ByteBuf part = parts.poll(); part != null; part = parts.poll()) {
            release(part);
        }
    }

    @Override
    void write(ByteBuf part) {
        write(part, false);
    }

    /** @param repeated whether the part was sent before and reported as consumed */
    private void write(ByteBuf part, boolean repeated) {
        Http2UpstreamConnection upstream = connection;
        Http2Stream to = stream;
        if (upstream == null || to == null) {
            if (repeated) {
                release(part);
            } else {
                dropUnwritten(part);
            }
            return;
        }
        keep(part);
        int size = part.readableBytes();
        upstream.writeBody(to, part, false).addListener((ChannelFutureListener) future -> {
            if (repeated) {
                buffered.add(-size);
            } else {
                taken(size);
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

    @Override
    void writeEnd() {
        Http2UpstreamConnection upstream = connection;
        Http2Stream to = stream;
        if (upstream != null && to != null) {
            writer.flush();
            Http2Headers fields = Http2UpstreamRequest.trailers(trailers);
            ChannelFuture last = fields == null
                    ? upstream.writeBody(to, Unpooled.EMPTY_BUFFER, true)
                    : upstream.writeHead(to, fields, true);
            last.addListener(future -> {
                if (future.isSuccess() && to.equals(stream)) {
                    written();
                }
            });
        }
    }
}
