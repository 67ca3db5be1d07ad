package dev.culvert.e2e.hostile;

import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Hand-made clients of the attacker's runtimes. */
final class Peers {
    private Peers() {}

    /** Serves the attack's own runtime: takes whatever comes, answers nothing, gives no windows. */
    static RawTunnel silent(Attack attack) throws IOException {
        return serving(attack, attack.runtime(), Peers::drop);
    }

    /** Serves one of the attacker's runtimes; {@code frames} must release what it gets. */
    static RawTunnel serving(Attack attack, int runtime, Consumer<Frame> frames) throws IOException {
        return attack.keep(
                RawTunnel.open(attack.target, Attack.source(runtime), attack.identity(runtime)))
                .serving(frames);
    }

    /** Joins the frames of a head, which follow each other: what a batch has room for may be less than a head. */
    private static final class Heads {
        private Frame.@Nullable Head first;
        private final ByteArrayOutputStream block = new ByteArrayOutputStream();

        /** Returns a request's head with its last frame; else null. */
        Frame.@Nullable Head whole(Frame.Head part) {
            if (part.has(FrameCodec.HEAD_OPENS)) {
                first = part;
                block.reset();
            }
            block.writeBytes(ByteBufUtil.getBytes(part.block()));
            Frame.Head opens = first;
            if (opens == null || !part.has(FrameCodec.HEAD_LAST)) {
                return null;
            }
            first = null;
            return new Frame.Head(opens.streamId(), opens.flags(), opens.kind(), opens.options(),
                    Unpooled.wrappedBuffer(block.toByteArray()));
        }
    }

    /** What a peer does about a request. */
    interface Answer {
        void to(RawTunnel tunnel, Frame.Head request) throws Exception;
    }

    /** Answers each request to the attack's own runtime, on a thread of its own; takes all bodies. */
    static RawTunnel answering(Attack attack, Answer answer) throws IOException {
        return answering(attack, attack.runtime(), answer);
    }

    /** The same of another of the attacker's runtimes. */
    static RawTunnel answering(Attack attack, int runtime, Answer answer) throws IOException {
        var tunnel = new CompletableFuture<RawTunnel>();
        var heads = new Heads();
        RawTunnel opened = serving(attack, runtime, frame -> {
            if (frame instanceof Frame.Data data && data.body().isReadable()) {
                int bytes = data.body().readableBytes();
                attack.aside(() -> tunnel.join().send(new Frame.Grant(0, bytes)));
            }
            Frame.Head request = frame instanceof Frame.Head head ? heads.whole(head) : null;
            Frame.release(frame);
            if (request != null) {
                attack.aside(() -> answer.to(tunnel.join(), request));
            }
        });
        tunnel.complete(opened);
        return opened;
    }

    static void drop(Frame frame) {
        Frame.release(frame);
    }
}
