package dev.culvert.client.link;

import dev.culvert.client.identity.Identity;
import dev.culvert.client.identity.SessionIdentity;
import dev.culvert.client.identity.SessionProof;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionListener;
import dev.culvert.protocol.netty.StreamListener;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.netty.TunnelStream;
import dev.culvert.protocol.netty.WindowPool;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.relay.quota.DirectMemory;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * One session of a link, from its hello to its end: serves its streams, proves its identity and ages. Reports
 * its changes to the {@link Link}, which decides when to dial. Confined to the link's event loop.
 */
final class LinkSession implements SessionListener, SessionIdentity.Wire {
    private static final Logger log = LoggerFactory.getLogger(LinkSession.class);

    /** Lends the bytes by which the windows of request bodies grow, for all connections of the process. */
    private static final WindowPool WINDOWS = new WindowPool(DirectMemory.max() / 16, DirectMemory::isShort);
    private static final String PAUSED = "the client is paused";

    private final Link link;
    private final Hello ownHello;
    private final String host;
    private final SessionIdentity identity;
    private final TunnelChannelHandler handler;
    private volatile boolean live;
    /** Whether another instance owns the runtime. */
    private boolean waiting;
    private boolean waited;
    /** Whether the server was not asked for a successor, or has answered. */
    private volatile boolean released;
    private long liveSinceNanos;
    private @Nullable ScheduledFuture<?> ageing;
    private @Nullable ScheduledFuture<?> leaving;

    /** @param host the name of the server, which a proof of the identity names */
    LinkSession(Link link, Hello ownHello, String host, Identity first) {
        this.link = link;
        this.ownHello = ownHello;
        this.host = host;
        this.identity = new SessionIdentity(first, () -> link.shared.credentials().get().identity(),
                link.loop, link.shared.times(), this);
        var session = new Session(Session.Role.CLIENT, ownHello, SessionLimits.defaults(), WINDOWS.account(),
                System::nanoTime);
        this.handler = new TunnelChannelHandler(session, true, this, link.shared.meter());
    }

    TunnelChannelHandler handler() {
        return handler;
    }

    /** Whether the server responds. Callable from any thread. */
    boolean isLive() {
        return live;
    }

    long liveSinceNanos() {
        return liveSinceNanos;
    }

    /** Whether the session waits, because another instance owns the runtime. */
    boolean isWaiting() {
        return waiting;
    }

    /** Whether the session never was more than one that waits. */
    boolean hasWaited() {
        return waited;
    }

    /** Whether the server lets instances wait. */
    boolean canStandby() {
        return handler.bothCan(Hello.STANDBY);
    }

    /** Whether the server still opens streams and may answer {@link #handOver}. Callable from any thread. */
    boolean isServing() {
        return live && !released;
    }

    /** Asks the server to promote another instance before this one stops. */
    void handOver() {
        released = released || !handler.leave();
    }

    /** The time since the session is live; zero if it is not. */
    Duration lifetime() {
        return live ? Duration.ofNanos(System.nanoTime() - liveSinceNanos) : Duration.ZERO;
    }

    /** Sends the announcement of routes, if there is one. */
    void announce() {
        byte[] document = link.shared.announcement().get();
        if (document != null && live) {
            handler.announce(document);
        }
    }

    /**
     * Proves the newest identity, if the session is live and uses an older one. A session that goes away is
     * live until its streams have ended.
     */
    void prove() {
        if (live) {
            identity.prove();
        } else if (waiting && identity.isOld()) {
            link.old(this); // nothing is proven on a session that waits
        }
    }

    /** Reports to the link when the session is old. */
    void age() {
        ageing = link.loop.schedule(() -> link.old(this),
                link.backoff.lifeOfAConnection(link.shared.sessionLife()).toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Ends the session because an operator has paused this client. */
    void leave(Duration grace) {
        handler.goAway(ErrorCode.DRAINING, 0, PAUSED);
        leaving = link.loop.schedule(() -> handler.close(ErrorCode.DRAINING, PAUSED), grace.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    @Override
    public void waiting(SessionEvent.Waiting owner) {
        waiting = true;
        waited = true;
        link.waits(this, owner);
    }

    @Override
    public void live(SessionEvent.Live ready) {
        waiting = false;
        waited = false;
        live = true;
        liveSinceNanos = System.nanoTime();
        link.live(this, ready);
    }

    @Override
    public Mono<SessionProof> proofOf(Identity newest) {
        Hello server = Objects.requireNonNull(handler.peerHello(), "live before its hello");
        return SessionProof.of(newest, server.nonce(), ownHello.nonce());
    }

    @Override
    public boolean auth(SessionProof proof) {
        return handler.auth(proof.certificate(), proof.signature());
    }

    /** An intermediary terminates TLS, or the server does not request certificates. */
    @Override
    public void proofWanted(Hello server) {
        SessionProof.opening(identity.accepted(), server.nonce(), ownHello.nonce(), host)
                .subscribe(proof -> link.loop.execute(() -> auth(proof)),
                        error -> log.atError().setCause(error).log("certificate can't be proven"));
    }

    @Override
    public void authAnswered(SessionEvent.AuthAnswer answer) {
        identity.answered(answer);
    }

    @Override
    public StreamListener opened(TunnelStream stream, SessionEvent.Opened opened) {
        return StreamForwarder.forward(stream, opened, link.shared.relay(), link.loop);
    }

    @Override
    public void goingAway(SessionEvent.GoingAway goingAway) {
        released = true;
        link.goingAway(this, goingAway);
    }

    @Override
    public void closed(SessionEvent.Closed closed) {
        boolean wasLive = live;
        Duration lifetime = lifetime();
        live = false;
        waiting = false;
        identity.end();
        if (ageing != null) {
            ageing.cancel(false);
        }
        if (leaving != null) {
            leaving.cancel(false);
        }
        link.closed(this, closed, wasLive, lifetime);
    }
}
