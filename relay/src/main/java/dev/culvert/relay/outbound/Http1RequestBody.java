package dev.culvert.relay.outbound;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The request's half of an HTTP/1.1 exchange after its head. Frames the body. */
final class Http1RequestBody extends RequestBody {
    private static final ByteBuf CRLF = Unpooled
            .unreleasableBuffer(Unpooled.directBuffer(2).writeByte('\r').writeByte('\n').asReadOnly());

    private enum Framing {
        /** Nothing is written: the request has no body, or the upgrade is not complete yet. */
        NONE, LENGTH, CHUNKED, RAW
    }

    private final Http1Exchange exchange;
    private final boolean upgrade;
    private Framing framing;
    private @Nullable Http1UpstreamConnection connection;

    Http1RequestBody(Http1Exchange exchange, RelayRequest request, LongAdder buffered) {
        super(exchange, request, buffered);
        this.exchange = exchange;
        upgrade = request.kind() == Kind.UPGRADE;
        framing = upgrade || empty
                ? Framing.NONE
                : length == ContentLength.UNKNOWN ? Framing.CHUNKED : Framing.LENGTH;
    }

    /** Returns the fields that the head needs for the body, beyond those of the request. */
    String headFields(CharSequence method) {
        if (framing == Framing.CHUNKED) {
            return "Transfer-Encoding: chunked\r\n";
        }
        String name = method.toString();
        boolean expected = name.equals("POST") || name.equals("PUT") || name.equals("PATCH");
        // RFC 9110 §8.6: a request without a body should say so if its method usually has one
        return framing == Framing.NONE && !upgrade && expected && length == ContentLength.UNKNOWN
                ? "Content-Length: 0\r\n"
                : "";
    }

    /** Starts writing, after {@code head}. Takes ownership of {@code head}. */
    void start(Http1UpstreamConnection upstream, ByteBuf head) {
        connection = upstream;
        startAgain();
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

    @Override
    boolean isWritable() {
        return connection != null && framing != Framing.NONE;
    }

    @Override
    void discard() {
        connection = null;
        super.discard();
    }

    @Override
    void write(ByteBuf part) {
        Http1UpstreamConnection upstream = connection;
        if (upstream == null) {
            dropUnwritten(part);
            return;
        }
        int size = part.readableBytes();
        if (framing == Framing.CHUNKED) {
            upstream.write(ByteBufUtil.writeAscii(upstream.allocator(), Integer.toHexString(size) + "\r\n"));
        }
        upstream.write(part).addListener((ChannelFutureListener) future -> {
            if (!future.isSuccess()) {
                exchange.requestBroken();
            }
            taken(size);
        });
        if (framing == Framing.CHUNKED) {
            upstream.write(CRLF.duplicate());
        }
    }

    @Override
    void writeEnd() {
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
        if (isDiscarding()) {
            return;
        }
        if (future.isSuccess()) {
            written();
        } else {
            exchange.requestBroken();
        }
    }
}
