package dev.culvert.server;

import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionLimits;
import io.netty.channel.ChannelHandlerContext;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.UUID;

/** Starts the server's end of sessions. */
final class TunnelSessions {
    private final ServerSession.Shared shared;
    private final SessionMeter meter;
    private final SessionLimits limits;
    private final String software;
    private final SecureRandom random = new SecureRandom();
    private final UUID instance = UUID.randomUUID();

    TunnelSessions(ServerSession.Shared shared, SessionMeter meter, String software) {
        this.shared = shared;
        this.meter = meter;
        this.limits = SessionLimits.defaults();
        this.software = software;
    }

    /**
     * Puts a session behind the WebSocket codec of an authenticated connection.
     *
     * @param until when the client's certificate ends
     */
    void start(ChannelHandlerContext ctx, RegisteredRuntime runtime, Instant until) {
        Hello hello = new Hello(Hello.VERSION, Hello.VERSION, Hello.AUTH, instance.getMostSignificantBits(),
                instance.getLeastSignificantBits(), 0, false, limits.accepts(), nonce(), software);
        Session session = new Session(Session.Role.SERVER, hello, limits, System.nanoTime());
        ServerSession listener = new ServerSession(shared, runtime,
                String.valueOf(ctx.channel().remoteAddress()),
                hello.nonce(), until);
        TunnelChannelHandler handler = new TunnelChannelHandler(session, false, listener, meter);
        listener.handler = handler;
        ctx.pipeline().addLast(handler);
    }

    private Hello.Nonce nonce() {
        return new Hello.Nonce(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
    }
}
