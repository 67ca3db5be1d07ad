package dev.culvert.client.link;

import dev.culvert.client.dial.DialFailure;
import dev.culvert.client.dial.DialPace;
import dev.culvert.client.dial.Dialler;
import dev.culvert.client.identity.Backoff;
import dev.culvert.client.identity.Credentials;
import dev.culvert.client.identity.Identity;
import dev.culvert.client.identity.SessionIdentity;
import dev.culvert.client.identity.SessionProof;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionListener;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.netty.StreamListener;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.netty.TunnelStream;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.relay.Relay;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;

/**
 * One connection of a client's tunnel: dials, serves its streams, dials again, for ever. Lives on one event loop.
 *
 * <pre>
 *  WAITING ──delay──► DIALLING ──101, READY──► LIVE ──lost──► WAITING
 *     ▲                  └──failed──┐            ├──go-away──► WAITING, while the old session's streams finish
 *     └─────────────────────────────┘            └──old age──► DIALLING, while the old session goes on
 *                          any ──pause──► PAUSED ──resume──► DIALLING
 *                                    any ──stop──► STOPPED
 * </pre>
 */
final class Link {
    private static final Logger log = LoggerFactory.getLogger(Link.class);

    private static final String PAUSED = "the client is paused";

    private final Shared shared;
    private final int index;
    private final EventLoop loop;
    private final Backoff backoff;
    private final Handover handover;
    private final List<Tunnelled> sessions = new ArrayList<>();
    private int attempts;
    private boolean stopped;
    /** By an operator, until resumed. */
    private boolean paused;
    /** Dials of earlier rounds, before a pause, count for nothing. */
    private int round;
    /** A dial is due or under way. */
    private boolean dialling;
    private volatile @Nullable ScheduledFuture<?> waiting;
    /** The newest session, unless that goes away. */
    private volatile @Nullable Tunnelled current;

    /**
     * What the links of a client share.
     *
     * @param credentials asked before each dial, so that a renewed identity is used
     * @param announcement what the server is told of the routes behind {@code relay}; null: nothing
     * @param instance random id of this process
     * @param pace asked before each dial, told of each session
     * @param observer told of changes, on the link's event loop
     */
    record Shared(Dialler dialler, List<URI> servers, Supplier<Credentials> credentials, Relay relay,
            Supplier<byte @Nullable []> announcement, SessionMeter meter, UUID instance, String software,
            SecureRandom random, TakeOver takeOver, Duration conflictRetry,
            DialPace pace,
            Observer observer) {}

    /** Told of a link's changes. */
    interface Observer {
        void live(Link link, SessionEvent.Live live);

        /**
         * A live session is over.
         *
         * @param planned whether it was told to go, and another was dialled
         */
        void lost(Link link, String reason, boolean planned);

        /** The server does not accept the identity. */
        void refused();
    }

    Link(Shared shared, int index, EventLoop loop) {
        this.shared = shared;
        this.index = index;
        this.loop = loop;
        this.backoff = new Backoff(shared.random);
        this.handover = new Handover(shared.random, shared.servers.size());
    }

    /** Whether a session is established and heard from. Callable from any thread. */
    boolean isLive() {
        Tunnelled present = current;
        return present != null && present.live;
    }

    /** The last round trip in nanoseconds, or -1. Callable from any thread. */
    long rttNanos() {
        Tunnelled present = current;
        return present == null || !present.live ? -1 : present.handler().rttNanos();
    }

    /** Starts dialling after {@code delay}. */
    void start(Duration delay) {
        dialling = true;
        waiting = loop.schedule(this::dial, delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Dials now, if it waits for that; with the newest identity. Callable from any thread. */
    void dialNow() {
        loop.execute(() -> {
            ScheduledFuture<?> due = waiting;
            if (due != null && due.cancel(false)) {
                dial();
            }
        });
    }

    private void dial() {
        if (stopped || paused) {
            dialling = false;
            return;
        }
        Duration early = shared.pace.ask(index, System.nanoTime());
        if (early.isPositive()) {
            start(early.plusMillis(1));
            return;
        }
        dialling = true;
        int begun = round;
        URI server = shared.servers.get(attempts++ % shared.servers.size());
        Credentials credentials = shared.credentials.get();
        shared.dialler
                .dial(server, credentials.tls(), loop,
                        channel -> upgraded(channel, server, credentials.identity(), begun))
                .subscribe(channel -> {}, failure -> loop.execute(() -> failed(failure, begun)));
    }

    private void failed(Throwable failure, int begun) {
        if (begun != round) {
            return;
        }
        Duration soon = handover.afterFailure(failure, System.nanoTime());
        if (soon != null) {
            again(soon, String.valueOf(failure.getMessage()),
                    handover.isFirstFailure() ? Level.INFO : Level.DEBUG,
                    "waiting for the server's successor");
            return;
        }
        boolean refused = failure instanceof DialFailure dial && dial.isRefused();
        if (refused) {
            shared.observer.refused();
        }
        retry(refused ? backoff.afterRefusal() : afterFailure(failure), String.valueOf(failure.getMessage()));
    }

    private Duration afterFailure(Throwable failure) {
        return failure instanceof DialFailure dial && dial.retryAfter().isPositive()
                ? backoff.afterOverload(dial.retryAfter())
                : backoff.afterLoss(Duration.ZERO);
    }

    private void retry(Duration delay, String reason) {
        again(delay, reason, Level.WARN, "no tunnel connection");
    }

    private void again(Duration delay, String reason, Level level, String event) {
        if (stopped || paused) {
            dialling = false;
            return;
        }
        log.atLevel(level)
                .addKeyValue("connection", index)
                .addKeyValue("reason", reason)
                .addKeyValue("retryInMillis", delay.toMillis())
                .log(event);
        start(delay);
    }

    /** The WebSocket is open: a session takes it over, in the same pass. */
    private void upgraded(Channel channel, URI server, Identity identity, int begun) {
        if (stopped || begun != round) {
            channel.close();
            return;
        }
        SessionLimits limits = SessionLimits.defaults();
        SecureRandom random = shared.random;
        Hello hello = new Hello(Hello.VERSION, Hello.VERSION,
                Hello.AUTH | Hello.ANNOUNCE | Hello.TCP | Hello.PROOF,
                shared.instance.getMostSignificantBits(),
                shared.instance.getLeastSignificantBits(), index, shared.takeOver.isWanted(),
                limits.accepts(),
                new Hello.Nonce(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong()),
                shared.software);
        Session session = new Session(Session.Role.CLIENT, hello, limits, System.nanoTime());
        Tunnelled next = new Tunnelled(hello, Dialler.hostName(server), identity);
        TunnelChannelHandler opened = new TunnelChannelHandler(session, true, next, shared.meter);
        next.handler = opened;
        sessions.add(next);
        current = next;
        channel.pipeline().addLast(opened);
    }

    /** Proves the newest identity on the present session, if that rests on an older one. Callable from any thread. */
    void prove() {
        loop.execute(() -> Optional.ofNullable(current)
                .filter(present -> present.live)
                .ifPresent(present -> present.identity.prove()));
    }

    /** Tells the server anew what is behind this. Callable from any thread. */
    void announce() {
        loop.execute(() -> Optional.ofNullable(current).ifPresent(Tunnelled::announce));
    }

    /** Takes no new streams, gives those in flight {@code grace} to end, and dials no more before {@link #resume}. */
    void pause(Duration grace) {
        loop.execute(() -> {
            paused = true;
            handover.end();
            round++;
            current = null;
            dialling = false;
            ScheduledFuture<?> due = waiting;
            if (due != null) {
                due.cancel(false);
            }
            List.copyOf(sessions).forEach(session -> session.leave(grace));
        });
    }

    /** Dials again, at once. */
    void resume() {
        loop.execute(() -> {
            paused = false;
            if (!stopped && !dialling && current == null) {
                start(Duration.ZERO);
            }
        });
    }

    /** Takes no new streams, lets those in flight finish, and does not dial again. */
    void drain() {
        loop.execute(() -> {
            stopped = true;
            sessions.forEach(session -> session.handler().goAway(ErrorCode.DRAINING, 0, "the client stops"));
        });
    }

    /** Closes at once. */
    void close() {
        loop.execute(() -> {
            stopped = true;
            List.copyOf(sessions)
                    .forEach(session -> session.handler().close(ErrorCode.DRAINING, "the client stops"));
        });
    }

    /** One session, from its hello to its end. */
    private final class Tunnelled implements SessionListener, SessionIdentity.Wire {
        private final Hello ownHello;
        private final String host;
        private final SessionIdentity identity;
        private @Nullable TunnelChannelHandler handler;
        private volatile boolean live;
        private long liveSinceNanos;
        private @Nullable ScheduledFuture<?> ageing;
        private @Nullable ScheduledFuture<?> leaving;

        Tunnelled(Hello ownHello, String host, Identity first) {
            this.ownHello = ownHello;
            this.host = host;
            this.identity = new SessionIdentity(first, () -> shared.credentials.get().identity(), loop,
                    backoff, this);
        }

        private TunnelChannelHandler handler() {
            return Objects.requireNonNull(handler);
        }

        @Override
        public void live(SessionEvent.Live ready) {
            live = true;
            dialling = false;
            handover.end();
            liveSinceNanos = System.nanoTime();
            shared.pace.live(liveSinceNanos);
            shared.takeOver.done();
            shared.observer.live(Link.this, ready);
            if (stopped) {
                drain();
                return;
            }
            announce();
            ageing = loop.schedule(this::old, backoff.lifeOfAConnection().toMillis(), TimeUnit.MILLISECONDS);
            Link.this.prove(); // renewed while this was dialled
        }

        private void announce() {
            byte[] document = shared.announcement.get();
            if (document != null && live) {
                handler().announce(document);
            }
        }

        /** Make before break: the server lets this session go when the next one is there. */
        private void old() {
            if (current == this && !dialling) {
                dial();
            }
        }

        /** Because an operator pauses this client. */
        private void leave(Duration grace) {
            handler().goAway(ErrorCode.DRAINING, 0, PAUSED);
            leaving = loop.schedule(() -> handler().close(ErrorCode.DRAINING, PAUSED), grace.toMillis(),
                    TimeUnit.MILLISECONDS);
        }

        @Override
        public Mono<SessionProof> proofOf(Identity newest) {
            Hello server = Objects.requireNonNull(handler().peerHello(), "live before its hello");
            return SessionProof.of(newest, server.nonce(), ownHello.nonce());
        }

        @Override
        public boolean auth(SessionProof proof) {
            return handler().auth(proof.certificate(), proof.signature());
        }

        /** Something on the way ends TLS, or the server does not ask for certificates. */
        @Override
        public void proofWanted(Hello server) {
            SessionProof.opening(identity.accepted(), server.nonce(), ownHello.nonce(), host)
                    .subscribe(proof -> loop.execute(() -> auth(proof)),
                            error -> log.atError().setCause(error).log("certificate can't be proven"));
        }

        @Override
        public void authAnswered(SessionEvent.AuthAnswer answer) {
            identity.answered(answer);
        }

        @Override
        public StreamListener opened(TunnelStream stream, SessionEvent.Opened opened) {
            return StreamForwarder.forward(stream, opened, shared.relay, loop);
        }

        @Override
        public void goingAway(SessionEvent.GoingAway goingAway) {
            if (goingAway.code() == ErrorCode.REPLACED || goingAway.code() == ErrorCode.CONFLICT) {
                shared.takeOver.lost();
            } else if (current == this && live && !stopped
                    && (goingAway.code() == ErrorCode.NO_ERROR || goingAway.code() == ErrorCode.DRAINING)) {
                sentAway(Duration.ofMillis(Math.min(goingAway.delayMillis(), Backoff.MAX_ASKED.toMillis())));
            }
        }

        private void sentAway(Duration delay) {
            long now = System.nanoTime();
            current = null;
            backoff.served(Duration.ofNanos(now - liveSinceNanos));
            handover.begin(delay, now);
            if (!dialling) {
                start(delay);
            }
        }

        @Override
        public void closed(SessionEvent.Closed closed) {
            Duration lifetime = live ? Duration.ofNanos(System.nanoTime() - liveSinceNanos) : Duration.ZERO;
            boolean planned = current != this;
            boolean wasLive = live;
            live = false;
            sessions.remove(this);
            identity.end();
            if (ageing != null) {
                ageing.cancel(false);
            }
            if (leaving != null) {
                leaving.cancel(false);
            }
            if (!wasLive && closed.code() == ErrorCode.UNAUTHORIZED) {
                shared.observer.refused();
            }
            String reason = closed.code() + ": " + Objects.toString(closed.detail(), "");
            if (wasLive) {
                shared.pace.lost(System.nanoTime());
                shared.observer.lost(Link.this, reason, planned);
            }
            if (!planned) {
                current = null;
                if (!wasLive || !dialling) {
                    retry(delay(closed.code(), lifetime), reason);
                }
            }
        }

        private Duration delay(ErrorCode code, Duration lifetime) {
            if (!shared.takeOver.isOwner()) {
                return backoff.afterConflict(shared.conflictRetry);
            }
            return code == ErrorCode.UNAUTHORIZED ? backoff.afterRefusal() : backoff.afterLoss(lifetime);
        }
    }
}
