package dev.culvert.appproxy.git;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A push whose commands are read before it goes on to Git, unchanged. Buffers that wait are on the heap and
 * need no release: whoever discards one releases it already, where a process reads the push. Used once.
 */
final class ArrivingPush {
    private final PushHead head = new PushHead();
    private final LongPredicate memory;

    /** @param memory takes bytes of memory for the commands; false: there is none left */
    ArrivingPush(LongPredicate memory) {
        this.memory = memory;
    }

    /** The parts of the push: the first list holds all commands, each further one a single buffer. */
    Flux<List<ByteBuf>> parts(Flux<ByteBuf> body) {
        return body.map(this::waiting).bufferUntil(part -> head.isComplete());
    }

    private ByteBuf waiting(ByteBuf part) {
        if (head.isComplete()) {
            return part;
        }
        try {
            if (!memory.test(part.readableBytes())) {
                throw GitBackend.busy();
            }
            head.read(part);
            return Unpooled.wrappedBuffer(ByteBufUtil.getBytes(part));
        } finally {
            part.release();
        }
    }

    /** Emits the changes that the push asks for. Errors: HandlerException, the first parts hold no push. */
    Mono<List<RefUpdate>> updates(@Nullable List<ByteBuf> parts) {
        return parts == null || !head.isComplete()
                ? Mono.error(PushHead.malformed())
                : Mono.just(head.updates());
    }

    /** The whole push. */
    static Flux<ByteBuf> body(Flux<List<ByteBuf>> parts) {
        return parts.concatMapIterable(list -> list, 1);
    }
}
