package dev.culvert.server.link;

import dev.culvert.http.net.HandlerNames;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.server.enrol.RenewalService.Proven;
import io.netty.channel.ChannelHandlerContext;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Starts the server's side of sessions. */
public final class TunnelSessions {
    private final ServerSession.Shared shared;
    private final SessionMeter meter;
    private final SessionLimits limits;
    private final String software;
    private final SecureRandom random = new SecureRandom();
    private final UUID instance = UUID.randomUUID();

    public TunnelSessions(ServerSession.Shared shared, SessionMeter meter, String software) {
        this.shared = shared;
        this.meter = meter;
        this.limits = SessionLimits.defaults();
        this.software = software;
    }

    /**
     * Adds a session behind the WebSocket codec of a connection.
     *
     * @param proven the runtime of the client's certificate, or null when TLS did not carry it
     * @param host the server's name from the client's request
     * @param left the time in which a client without a TLS certificate must prove its certificate
     */
    public void start(ChannelHandlerContext ctx, @Nullable Proven proven, String host, Duration left) {
        SessionLimits own = proven == null ? limits.opening(left) : limits;
        long capabilities = Hello.AUTH | Hello.ANNOUNCE | Hello.TCP | Hello.SLOTS | Hello.STANDBY
                | Hello.SPELLING | (proven == null ? Hello.PROOF : 0);
        Hello hello = new Hello(Hello.VERSION, Hello.VERSION, capabilities, instance.getMostSignificantBits(),
                instance.getLeastSignificantBits(), 0, false, limits.accepts(), nonce(), software);
        Session session = new Session(Session.Role.SERVER, hello, own, shared.windows().unknown(),
                System::nanoTime);
        ServerSession listener = new ServerSession(shared, ctx.channel(), host, hello.nonce(), proven);
        TunnelChannelHandler handler = new TunnelChannelHandler(session, false, listener, meter);
        listener.handler = handler;
        ctx.pipeline().addLast(HandlerNames.SESSION, handler);
    }

    private Hello.Nonce nonce() {
        return new Hello.Nonce(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
    }
}
