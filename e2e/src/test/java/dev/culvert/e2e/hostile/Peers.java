package dev.culvert.e2e.hostile;

import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

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
        RawTunnel opened = serving(attack, runtime, frame -> {
            if (frame instanceof Frame.Data data && data.body().isReadable()) {
                int bytes = data.body().readableBytes();
                attack.aside(() -> tunnel.join().send(new Frame.Grant(0, bytes)));
            }
            Frame.release(frame);
            if (frame instanceof Frame.Head head && head.has(FrameCodec.HEAD_OPENS)) {
                attack.aside(() -> answer.to(tunnel.join(), head));
            }
        });
        tunnel.complete(opened);
        return opened;
    }

    static void drop(Frame frame) {
        Frame.release(frame);
    }
}
