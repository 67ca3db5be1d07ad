package dev.culvert.relay.outbound;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.protocol.body.BodyWriter;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.upstream.DeclaredLength;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The request's half of an exchange after its head. Frames the body, and holds bytes that arrive before they
 * can be written. The asker's own credit bounds them, because bytes are reported as consumed only after they
 * were written.
 */
final class Http1RequestBody {
    private static final ByteBuf CRLF = Unpooled
            .unreleasableBuffer(Unpooled.directBuffer(2).writeByte('\r').writeByte('\n').asReadOnly());

    private enum Framing {
        /** Nothing is written: the request has no body, or the upgrade is not complete yet. */
        NONE, LENGTH, CHUNKED, RAW
    }

    private final Http1Exchange exchange;
    private final LongAdder buffered;
    private final boolean upgrade;
    private final long length;
    private Framing framing;
    private long bytes;
    private @Nullable BodyQueue held;
    private final BodyWriter writer = new BodyWriter(this::writePart);
    private @Nullable Http2Headers trailers;
    private boolean ended;
    private boolean written;
    private boolean discarding;
    private @Nullable Http1UpstreamConnection connection;

    Http1RequestBody(Http1Exchange exchange, RelayRequest request, LongAdder buffered) {
        this.exchange = exchange;
        this.buffered = buffered;
        upgrade = request.kind() == Kind.UPGRADE;
        ended = request.ended() && !upgrade;
        length = upgrade ? DeclaredLength.UNKNOWN : DeclaredLength.of(request.fields());
        framing = upgrade || ended
                ? Framing.NONE
                : length == DeclaredLength.UNKNOWN ? Framing.CHUNKED : Framing.LENGTH;
    }

    /** Whether the head contradicts the exchange about the body. */
    boolean isContradictory() {
        return length == DeclaredLength.INVALID || (ended && length > 0);
    }

    /** Returns the fields that the head needs for the body, beyond those of the request. */
    String headFields(CharSequence method) {
        if (framing == Framing.CHUNKED) {
            return "transfer-encoding: chunked\r\n";
        }
        String name = method.toString();
        boolean expected = name.equals("POST") || name.equals("PUT") || name.equals("PATCH");
        // RFC 9110 §8.6: a request without a body should say so if its method usually has one
        return framing == Framing.NONE && !upgrade && expected && length == DeclaredLength.UNKNOWN
                ? "content-length: 0\r\n"
                : "";
    }

    /** Whether the asker has ended the body. */
    boolean isEnded() {
        return ended;
    }

    /** Whether the whole body was written to the upstream's socket. */
    boolean isWritten() {
        return written;
    }

    /** Starts writing, after {@code head}. Takes ownership of {@code head}. */
    void start(Http1UpstreamConnection upstream, ByteBuf head) {
        connection = upstream;
        written = false;
        ChannelFuture future = upstream.write(head);
        if (upgrade) {
            future.addListener((ChannelFutureListener) this::upgradeWritten);
        } else if (framing == Framing.NONE) {
            future.addListener((ChannelFutureListener) this::lastWritten);
        } else {
            writeHeld();
        }
    }

    private void upgradeWritten(ChannelFuture future) {
        if (future.isSuccess()) {
            exchange.requestWritten();
        } else {
            exchange.requestBroken();
        }
    }

    /** Switches to raw bytes: they are written as they arrive. */
    void startRaw() {
        framing = Framing.RAW;
        writeHeld();
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
        if (discarding || ended || tooLong) {
            drop(body);
            return discarding || ended;
        }
        if (connection == null || framing == Framing.NONE) {
            hold(body);
        } else {
            write(body);
        }
        return true;
    }

    /** Ends the body. Returns false if the body is shorter than its declared length. */
    boolean end(@Nullable Http2Headers trailers) {
        if (ended) {
            return true;
        }
        ended = true;
        this.trailers = trailers;
        if (discarding) {
            return true;
        }
        if (length >= 0 && bytes < length) {
            return false;
        }
        if (connection != null && framing != Framing.NONE) {
            writeEnd();
        }
        return true;
    }

    /** Drops the held bytes and all later ones. */
    void discard() {
        discarding = true;
        connection = null;
        BodyQueue dropped = held;
        held = null;
        for (ByteBuf body = poll(dropped); body != null; body = poll(dropped)) {
            drop(body);
        }
        ByteBuf waiting = writer.takeBack();
        if (waiting != null) {
            drop(waiting);
        }
    }

    private void drop(ByteBuf body) {
        int size = body.readableBytes();
        buffered.add(-size);
        body.release();
        exchange.requestDropped(size);
    }

    private void hold(ByteBuf body) {
        if (held == null) {
            held = new BodyQueue();
        }
        held.add(body);
    }

    private void writeHeld() {
        BodyQueue earlier = held;
        held = null;
        for (ByteBuf body = poll(earlier); body != null; body = poll(earlier)) {
            write(body);
        }
        if (ended) {
            writeEnd();
        }
    }

    private static @Nullable ByteBuf poll(@Nullable BodyQueue parts) {
        return parts == null ? null : parts.poll();
    }

    private void write(ByteBuf body) {
        if (connection == null || !body.isReadable()) {
            drop(body); // an empty chunk would end the body
        } else {
            writer.data(body);
        }
    }

    private void writePart(ByteBuf body) {
        Http1UpstreamConnection upstream = connection;
        if (upstream == null) {
            drop(body);
            writer.taken();
            return;
        }
        int size = body.readableBytes();
        if (framing == Framing.CHUNKED) {
            upstream.write(ByteBufUtil.writeAscii(upstream.allocator(), Integer.toHexString(size) + "\r\n"));
        }
        upstream.write(body).addListener((ChannelFutureListener) future -> {
            buffered.add(-size);
            if (!future.isSuccess()) {
                exchange.requestBroken();
            }
            exchange.requestConsumed(size);
            writer.taken();
        });
        if (framing == Framing.CHUNKED) {
            upstream.write(CRLF.duplicate());
        }
    }

    private void writeEnd() {
        Http1UpstreamConnection upstream = connection;
        if (upstream == null) {
            return;
        }
        writer.flush();
        ByteBuf last = Unpooled.EMPTY_BUFFER;
        if (framing == Framing.CHUNKED) {
            last = ByteBufUtil.writeAscii(upstream.allocator(), "0\r\n");
            if (trailers != null) {
                Http1UpstreamRequest.trailers(trailers, last);
            }
            last.writeCharSequence("\r\n", StandardCharsets.US_ASCII);
        }
        upstream.write(last).addListener((ChannelFutureListener) this::lastWritten);
    }

    private void lastWritten(ChannelFuture future) {
        if (discarding) {
            return;
        }
        if (future.isSuccess()) {
            written = true;
            exchange.requestWritten();
        } else {
            exchange.requestBroken();
        }
    }
}
