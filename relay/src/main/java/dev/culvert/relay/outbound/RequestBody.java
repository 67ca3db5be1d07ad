package dev.culvert.relay.outbound;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.protocol.body.BodyWriter;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The request's half of an exchange after its head. Holds bytes that arrive before they can be written. The
 * asker's own credit bounds them, because bytes are reported as consumed only after they were written.
 *
 * <pre>
 * OPEN ──► ENDED ──► WRITTEN
 *            ▲          │
 *            └──────────┘ sent again
 * </pre>
 */
abstract sealed class RequestBody permits Http1RequestBody, Http2RequestBody {
    private enum State {
        OPEN,
        /** The asker has ended the body. */
        ENDED,
        /** The upstream's socket has taken the whole body. */
        WRITTEN
    }

    final LongAdder buffered;
    final BodyQueue held = new BodyQueue();
    final BodyWriter writer = new BodyWriter(this::write);
    final long length;
    final boolean empty;
    @Nullable
    Http2Headers trailers;
    private final HttpExchange<?> exchange;
    private State state;
    private long bytes;
    private boolean discarding;

    RequestBody(HttpExchange<?> exchange, RelayRequest request, LongAdder buffered) {
        this.exchange = exchange;
        this.buffered = buffered;
        boolean upgrade = request.kind() == Kind.UPGRADE;
        empty = request.ended() && !upgrade;
        state = empty ? State.ENDED : State.OPEN;
        length = upgrade ? ContentLength.UNKNOWN : ContentLength.of(request.fields());
    }

    /** Whether the head contradicts the exchange about the body. */
    final boolean isContradictory() {
        return length == ContentLength.INVALID || (empty && length > 0);
    }

    /** Whether the asker has ended the body. */
    final boolean isEnded() {
        return state != State.OPEN;
    }

    /** Whether the whole body was written to the upstream's socket. */
    final boolean isWritten() {
        return state == State.WRITTEN;
    }

    final boolean isDiscarding() {
        return discarding;
    }

    /** Whether bytes can be written now. */
    abstract boolean isWritable();

    /**
     * Receives a part of the body and takes ownership of it. Returns false if the body is longer than its
     * declared length.
     */
    final boolean data(ByteBuf part) {
        int size = part.readableBytes();
        bytes += size;
        buffered.add(size);
        boolean unwanted = discarding || isEnded();
        boolean tooLong = length >= 0 && bytes > length;
        if (unwanted || tooLong || size == 0) { // an empty chunk would end the body
            drop(part);
            return unwanted || !tooLong;
        }
        if (isWritable()) {
            writer.data(part);
        } else {
            held.add(part);
        }
        return true;
    }

    /** Ends the body. Returns false if the body is shorter than its declared length. */
    final boolean end(@Nullable Http2Headers last) {
        if (isEnded()) {
            return true;
        }
        state = State.ENDED;
        trailers = last;
        if (discarding) {
            return true;
        }
        if (length >= 0 && bytes < length) {
            return false;
        }
        if (isWritable()) {
            writeEnd();
        }
        return true;
    }

    /** Writes what arrived before it could be written. */
    final void writeHeld() {
        for (ByteBuf part = held.poll(); part != null; part = held.poll()) {
            writer.data(part);
        }
        if (isEnded()) {
            writeEnd();
        }
    }

    /** Writes a part and takes ownership of it. Calls {@link #taken} or {@link #dropUnwritten} for it. */
    abstract void write(ByteBuf part);

    /** Writes the end, unless the body is discarded. */
    abstract void writeEnd();

    /** The socket has taken a part, or never will. */
    final void taken(int size) {
        buffered.add(-size);
        exchange.requestConsumed(size);
        writer.taken();
    }

    /** The socket has taken the whole body. */
    final void written() {
        state = State.WRITTEN;
        exchange.requestWritten();
    }

    /** The body is written to another connection. */
    final void startAgain() {
        if (state == State.WRITTEN) {
            state = State.ENDED;
        }
    }

    /** Drops the held bytes and all later ones. */
    void discard() {
        discarding = true;
        ByteBuf waiting = writer.takeBack();
        if (waiting != null) {
            drop(waiting);
        }
        for (ByteBuf part = held.poll(); part != null; part = held.poll()) {
            drop(part);
        }
    }

    final void dropUnwritten(ByteBuf part) {
        drop(part);
        writer.taken();
    }

    private void drop(ByteBuf part) {
        int size = part.readableBytes();
        release(part);
        if (size > 0) {
            exchange.requestDropped(size);
        }
    }

    /** Releases a part that the asker does not wait for. */
    final void release(ByteBuf part) {
        buffered.add(-part.readableBytes());
        part.release();
    }
}
