package dev.culvert.server;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionListener;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import io.netty.channel.ChannelHandlerContext;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the server's end of sessions and keeps the registry in step with them. */
final class TunnelSessions {
    private static final Logger log = LoggerFactory.getLogger(TunnelSessions.class);

    private final RuntimeStore store;
    private final TunnelRegistry registry;
    private final SessionMeter meter;
    private final SessionLimits limits;
    private final String software;
    private final Clock clock;
    private final SecureRandom random = new SecureRandom();
    private final UUID instance = UUID.randomUUID();

    TunnelSessions(RuntimeStore store, TunnelRegistry registry, SessionMeter meter, String software,
            Clock clock) {
        this.store = store;
        this.registry = registry;
        this.meter = meter;
        this.limits = SessionLimits.defaults();
        this.software = software;
        this.clock = clock;
    }

    /** Puts a session behind the WebSocket codec of an authenticated connection. */
    void start(ChannelHandlerContext ctx, RegisteredRuntime runtime) {
        Hello hello = new Hello(Hello.VERSION, Hello.VERSION, 0, instance.getMostSignificantBits(),
                instance.getLeastSignificantBits(), 0, false, limits.accepts(), nonce(), software);
        Session session = new Session(Session.Role.SERVER, hello, limits, System.nanoTime());
        Admission admission = new Admission(runtime, String.valueOf(ctx.channel().remoteAddress()));
        TunnelChannelHandler handler = new TunnelChannelHandler(session, false, admission, meter);
        admission.handler = handler;
        ctx.pipeline().addLast(handler);
    }

    private Hello.Nonce nonce() {
        return new Hello.Nonce(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
    }

    /** One session from its client's hello to its end. */
    private final class Admission implements SessionListener {
        private final RegisteredRuntime runtime;
        private final String remote;
        @Nullable
        TunnelChannelHandler handler;
        private @Nullable LiveSession live;

        Admission(RegisteredRuntime runtime, String remote) {
            this.runtime = runtime;
            this.remote = remote.startsWith("/") ? remote.substring(1) : remote;
        }

        @Override
        public void peerHello(Hello hello) {
            TunnelChannelHandler session = Objects.requireNonNull(handler);
            UUID id = UUID.randomUUID();
            LiveSession admitted = registry.admit(runtime, hello,
                    generation -> new LiveSession(id, runtime, hello,
                            generation, session, clock.instant(), remote));
            if (admitted == null) {
                session.close(ErrorCode.CONFLICT, "another client serves this runtime");
                return;
            }
            live = admitted;
            if (store.byId(runtime.id()) == null) {
                // Deleted since the handshake: the deletion may have missed this session, so close it here.
                registry.closeAll(runtime.id(), "the runtime " + runtime.name() + " was deleted");
                return;
            }
            session.ready(id.getMostSignificantBits(), id.getLeastSignificantBits(), admitted.generation,
                    runtime.name().toString(), runtime.host());
        }

        @Override
        public void live(SessionEvent.Live ready) {
            log.atInfo()
                    .addKeyValue("runtime", runtime.name())
                    .addKeyValue("generation", ready.generation())
                    .addKeyValue("remote", remote)
                    .log("session opened");
        }

        @Override
        public void goingAway(SessionEvent.GoingAway goingAway) {
            if (live != null) {
                live.stopAccepting();
            }
        }

        @Override
        public void closed(SessionEvent.Closed closed) {
            if (live != null) {
                registry.remove(live);
                log.atInfo()
                        .addKeyValue("runtime", runtime.name())
                        .addKeyValue("code", closed.code())
                        .addKeyValue("detail", closed.detail())
                        .addKeyValue("byPeer", closed.byPeer())
                        .log("session closed");
            }
        }
    }
}
