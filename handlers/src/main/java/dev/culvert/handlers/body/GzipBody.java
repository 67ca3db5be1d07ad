package dev.culvert.handlers.body;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import java.io.ByteArrayOutputStream;
import java.util.function.BiFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SynchronousSink;

/** Expands bodies with {@code Content-Encoding: gzip} that are streamed. */
public final class GzipBody {
    /** What is expanded at once: to at most about a MiB. */
    private static final int SLICE = 1 << 10;

    private GzipBody() {}

    /**
     * The content of a body, expanded as it is asked for. Takes ownership of the body's parts. Emits buffers
     * on the heap, which need no release. Errors: those of {@code body}, and HandlerException BAD_REQUEST if
     * it is not gzip. Cancelling cancels the body.
     */
    public static Flux<ByteBuf> expand(Flux<ByteBuf> body) {
        return Flux.using(Gunzip::new,
                gunzip -> body.map(GzipBody::bytes)
                        .concatMap(packed -> Flux.generate(() -> 0, expanding(gunzip, packed)), 1)
                        .filter(ByteBuf::isReadable)
                        .concatWith(Flux.defer(
                                () -> gunzip.isComplete() ? Flux.empty() : Flux.error(noGzip()))),
                Gunzip::close);
    }

    private static byte[] bytes(ByteBuf part) {
        try {
            return ByteBufUtil.getBytes(part);
        } finally {
            part.release();
        }
    }

    /** Expands a slice each time, from the index where the last one ended. */
    private static BiFunction<Integer, SynchronousSink<ByteBuf>, Integer> expanding(Gunzip gunzip,
            byte[] packed) {
        return (from, sink) -> {
            int to = Math.min(packed.length, from + SLICE);
            if (from == to) {
                sink.complete();
                return to;
            }
            var content = new ByteArrayOutputStream();
            try {
                gunzip.expand(Unpooled.wrappedBuffer(packed, from, to - from), next -> {
                    content.writeBytes(ByteBufUtil.getBytes(next));
                    return true;
                });
                sink.next(Unpooled.wrappedBuffer(content.toByteArray()));
            } catch (DecoderException e) {
                sink.error(noGzip());
            }
            return to;
        };
    }

    static HandlerException noGzip() {
        return HandlerException.of(Reason.BAD_REQUEST, "the body is not gzip, as its Content-Encoding says");
    }
}
