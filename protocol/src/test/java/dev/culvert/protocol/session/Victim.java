package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.Session.Role;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Random;

/** A session with a lively application, for input from a peer that breaks every rule. */
final class Victim {
    private static final int QUEUED_PER_STREAM = 64 << 10;

    final Session session;
    private final Role role;
    private final Random random;
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);

    Victim(Role role, Random random) {
        this.role = role;
        this.random = random;
        SessionLimits defaults = SessionLimits.defaults();
        SessionLimits limits = new SessionLimits(Recording.LIMITS, QUEUED_PER_STREAM, 8,
                defaults.openingTimeout(),
                defaults.heartbeatInterval(), defaults.heartbeatTimeout());
        this.session = new Session(role, SessionPair.hello(1, 1, Recording.LIMITS), limits,
                WindowAccount.NONE,
                () -> 0);
    }

    /** Server: opens streams until the id is used, as the recorded server had. */
    void openUpTo(int id) {
        while (session.session.lastStreamId < id && session.isLive() && !session.isDraining()) {
            if (session.canOpen()) {
                int opened = session.open(StreamKind.HTTP, Side.request("/" + id), HeadOptions.NONE,
                        random.nextBoolean());
                session.data(opened, bytes(random.nextInt(2_000)));
            } else {
                session.session.lastStreamId++;
            }
        }
        send();
    }

    /** Takes a batch as the driver does; nothing but the protocol's own error may come out of the codec, nothing else. */
    void take(byte[] input) {
        ByteBuf batch = allocator.heapBuffer(Math.max(1, input.length)).writeBytes(input);
        session.received();
        while (batch.isReadable() && !session.isClosed()) {
            Frame frame;
            try {
                frame = FrameCodec.decode(batch);
            } catch (ProtocolException e) {
                session.fail(e);
                break;
            }
            session.handle(frame, 0);
            react();
        }
        batch.release();
        react();
        if (random.nextInt(3) > 0) {
            send();
        }
    }

    private void react() {
        for (SessionEvent event = session.pollEvent(); event != null; event = session.pollEvent()) {
            switch (event) {
                case SessionEvent.PeerHello e -> session.ready(1, 2, 3, "acme/prod", "h");
                case SessionEvent.Opened e -> answer(e.streamId());
                case SessionEvent.Data e -> {
                    int bytes = e.body().readableBytes();
                    e.body().release();
                    if (random.nextInt(4) > 0) {
                        session.consumed(e.streamId(),
                                session.session.streams.containsKey(e.streamId()) ? bytes : 0);
                    }
                }
                default -> {
                }
            }
        }
    }

    private void answer(int id) {
        if (random.nextBoolean()) {
            session.respond(id, Side.response(103), HeadOptions.NONE, true, false);
        }
        session.respond(id, Side.response(200), HeadOptions.NONE, false, false);
        session.data(id, bytes(random.nextInt(random.nextInt(10) == 0 ? 20_000 : 1_000)));
        if (random.nextBoolean()) {
            session.end(id, random.nextBoolean() ? Side.trailers("x") : null);
        }
    }

    /** Sends everything that may be sent; it must be valid. */
    private void send() {
        while (session.hasFrames()) {
            ByteBuf out = allocator.heapBuffer(session.batchBytes(), FrameCodec.MAX_BATCH);
            while (session.pollFrame(out)) {
                // until nothing waits or nothing more fits
            }
            boolean any = out.isReadable();
            while (out.isReadable()) {
                Frame.release(FrameCodec.decode(out));
            }
            out.release();
            react();
            if (!any) {
                return;
            }
        }
    }

    /** Memory stays within what docs/protocol.md §12 allows. */
    void assertBounded() {
        int streams = Recording.LIMITS.streams();
        int resets = 2 * streams + 16;
        int heads = streams * (8 + 2);
        assertThat(session.streamCount()).isLessThanOrEqualTo(streams);
        assertThat(session.bufferedBytes())
                .isBetween(0L, (long) streams * (Recording.LIMITS.streamWindow() + QUEUED_PER_STREAM));
        assertThat(session.session.outbox.queuedEntries())
                .isLessThanOrEqualTo(resets + heads + 2 * streams + 3);
        assertThat(session.session.events).isEmpty();
    }

    /** Ends the session; nothing may be left. */
    void end() {
        session.disconnected();
        react();
        assertThat(session.streamCount()).isZero();
        assertThat(session.bufferedBytes()).isZero();
        assertThat(allocator.metric().usedHeapMemory()).as("bytes not released by the %s", role).isZero();
    }

    private ByteBuf bytes(int count) {
        return allocator.heapBuffer(Math.max(1, count)).writeZero(count);
    }
}
