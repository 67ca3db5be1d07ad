package dev.culvert.handlers.body;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;

/** Expands bodies with {@code Content-Encoding: gzip} that are streamed. */
public final class GzipBody {
    /** What is expanded at once: to at most about a MiB. */
    private static final int SLICE = 1 << 10;

    private GzipBody() {}

    /**
     * The content of a body, expanded as it is asked for. Takes ownership of the body's parts, and emits
     * buffers that the subscriber owns. Errors: those of {@code body}, and HandlerException BAD_REQUEST if it
     * is not gzip. Cancelling cancels the body.
     */
    public static Flux<ByteBuf> expand(Flux<ByteBuf> body) {
        return Flux.using(Gunzip::new,
                gunzip -> body.concatMapIterable(GzipBody::slices, 1)
                        .concatMapIterable(slice -> expanded(gunzip, slice), 1)
                        .concatWith(
                                Flux.defer(() -> gunzip.isComplete() ? Flux.empty() : Flux.error(noGzip())))
                        .doOnDiscard(ByteBuf.class, ByteBuf::release),
                Gunzip::close);
    }

    private static List<ByteBuf> slices(ByteBuf part) {
        List<ByteBuf> slices = new ArrayList<>();
        while (part.isReadable()) {
            slices.add(part.readRetainedSlice(Math.min(SLICE, part.readableBytes())));
        }
        part.release();
        return slices;
    }

    private static List<ByteBuf> expanded(Gunzip gunzip, ByteBuf slice) {
        List<ByteBuf> content = new ArrayList<>(1);
        try {
            gunzip.expand(slice, next -> content.add(next.retain()));
        } catch (DecoderException e) {
            content.forEach(ByteBuf::release);
            throw noGzip();
        } finally {
            slice.release();
        }
        return content;
    }

    static HandlerException noGzip() {
        return HandlerException.of(Reason.BAD_REQUEST, "the body is not gzip, as its Content-Encoding says");
    }
}
