package dev.culvert.appproxy.git;

import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A push whose commands are read before it goes on to Git, unchanged. Used once. */
final class ArrivingPush {
    private final PushHead head = new PushHead();
    private final LongPredicate memory;
    private final AtomicReference<@Nullable List<ByteBuf>> held = new AtomicReference<>();
    /** Whether the first list has gone on. */
    private boolean passed;

    /** @param memory takes bytes of memory for the commands; false: there is none left */
    ArrivingPush(LongPredicate memory) {
        this.memory = memory;
    }

    /** The parts of the push: the first list holds all commands, each further one a single buffer. */
    Flux<List<ByteBuf>> parts(Flux<ByteBuf> body) {
        return body.bufferUntil(this::ends).doOnDiscard(ByteBuf.class, ByteBuf::release);
    }

    private boolean ends(ByteBuf part) {
        if (!head.isComplete() && !memory.test(part.readableBytes())) {
            throw GitBackend.busy();
        }
        return head.read(part);
    }

    /** Emits the changes that the push asks for. Errors: HandlerException, the first parts hold no push. */
    Mono<List<RefUpdate>> updates(@Nullable List<ByteBuf> parts) {
        held.set(parts);
        return parts == null || !head.isComplete()
                ? Mono.error(PushHead.malformed())
                : Mono.just(head.updates());
    }

    /** The whole push. */
    Flux<ByteBuf> body(Flux<List<ByteBuf>> parts) {
        return parts.concatMapIterable(list -> {
            if (passed) {
                return list;
            }
            passed = true;
            List<ByteBuf> first = held.getAndSet(null);
            return first == null ? List.of() : first;
        }, 1).doOnDiscard(ByteBuf.class, ByteBuf::release);
    }

    /** Releases the commands, if Git has not got them. */
    void drop() {
        List<ByteBuf> unread = held.getAndSet(null);
        if (unread != null) {
            unread.forEach(ByteBuf::release);
        }
    }
}
