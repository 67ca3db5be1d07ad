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
 * One connection of a client's tunnel. Dials, serves its streams, and dials again, for ever. Confined to one
 * event loop.
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
    /** Whether an operator has paused the client. */
    private boolean paused;
    /** Results of dials of earlier rounds, before a pause, are ignored. */
    private int round;
    /** Whether a dial is due or in progress. */
    private boolean dialling;
    private volatile @Nullable ScheduledFuture<?> waiting;
    /** The newest session, unless it goes away. */
    private volatile @Nullable Tunnelled current;

    /**
     * The state that all links of a client share.
     *
     * @param credentials supplies the newest credentials; called before each dial
     * @param announcement supplies the announcement of the routes behind {@code relay}; null for none
     * @param instance the random id of this process
     * @param pace decides when to dial; is notified of each session
     * @param observer receives changes, on the link's event loop
     */
    record Shared(Dialler dialler, List<URI> servers, Supplier<Credentials> credentials, Relay relay,
            Supplier<byte @Nullable []> announcement, SessionMeter meter, UUID instance, String software,
            SecureRandom random, TakeOver takeOver, Duration conflictRetry,
            DialPace pace,
            Observer observer) {}

    /** Receives the changes of a link. */
    interface Observer {
        void live(Link link, SessionEvent.Live live);

        /**
         * A live session has ended.
         *
         * @param planned whether the server sent a go-away and another connection was dialled
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

    /** Whether a session is established and its server responds. Callable from any thread. */
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

    /** Dials now with the newest identity if a dial is waiting. Callable from any thread. */
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

    /** Called when the WebSocket is open. Adds a session in the same pass. */
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

    /**
     * Proves the newest identity on the present session, if it uses an older one. Callable from any thread.
     */
    void prove() {
        loop.execute(() -> Optional.ofNullable(current)
                .filter(present -> present.live)
                .ifPresent(present -> present.identity.prove()));
    }

    /** Sends the announcement to the server again. Callable from any thread. */
    void announce() {
        loop.execute(() -> Optional.ofNullable(current).ifPresent(Tunnelled::announce));
    }

    /**
     * Accepts no new streams, gives those in progress {@code grace} to end, and does not dial before {@link
     * #resume}.
     */
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

    /** Accepts no new streams, lets those in progress finish, and does not dial again. */
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
            Link.this.prove(); // the identity was renewed during the dial
        }

        private void announce() {
            byte[] document = shared.announcement.get();
            if (document != null && live) {
                handler().announce(document);
            }
        }

        /**
         * Replaces an old session by make-before-break: the server closes this session when the next one is
         * live.
         */
        private void old() {
            if (current == this && !dialling) {
                dial();
            }
        }

        /** Ends the session because an operator has paused this client. */
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

        /** An intermediary terminates TLS, or the server does not request certificates. */
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
