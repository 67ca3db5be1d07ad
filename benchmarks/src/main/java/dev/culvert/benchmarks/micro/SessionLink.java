package dev.culvert.benchmarks.micro;

import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.Session.Role;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.protocol.session.WindowAccount;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

/** Two live sessions of one thread, without a socket between them. */
final class SessionLink {
    final Session server;
    final Session client;

    /** @param capabilities of both sides: bits of {@link Hello} */
    SessionLink(long capabilities) {
        SessionLimits limits = SessionLimits.defaults();
        var hello = new Hello(Hello.VERSION, Hello.VERSION, capabilities, 1, 2, 0, true, limits.accepts(),
                new Hello.Nonce(1, 2, 3, 4), "benchmark");
        server = new Session(Role.SERVER, hello, limits, WindowAccount.NONE, System::nanoTime);
        client = new Session(Role.CLIENT, hello, limits, WindowAccount.NONE, System::nanoTime);
        carry(server, client);
        carry(client, server);
        server.ready(1, 2, 3, "acme/prod", "acme-prod.example.com");
        carry(server, client);
        drop(server);
        drop(client);
        if (!server.isLive() || !client.isLive()) {
            throw new IllegalStateException("no session");
        }
    }

    /** Writes the waiting frames of one session in batches, which the other one reads. */
    static void carry(Session from, Session to) {
        while (from.hasFrames()) {
            ByteBuf batch = PooledByteBufAllocator.DEFAULT.directBuffer(from.batchBytes(),
                    FrameCodec.MAX_BATCH);
            boolean some = false;
            while (from.pollFrame(batch)) {
                some = true;
            }
            to.received();
            while (batch.isReadable()) {
                to.handle(FrameCodec.decode(batch), System.nanoTime());
            }
            batch.release();
            if (!some) {
                return; // they wait for a window
            }
        }
    }

    /** Drops the events of a session, and reports the bytes of bodies as consumed. Returns these bytes. */
    static int drop(Session session) {
        int bytes = 0;
        for (SessionEvent event = session.pollEvent(); event != null; event = session.pollEvent()) {
            if (event instanceof SessionEvent.Data data) {
                int size = data.body().readableBytes();
                data.body().release();
                session.consumed(data.streamId(), size);
                bytes += size;
            }
        }
        return bytes;
    }
}
