package dev.culvert.client.link;

import dev.culvert.client.dial.DialFailure;
import dev.culvert.client.dial.DialPace;
import dev.culvert.client.dial.Dialler;
import dev.culvert.client.identity.Backoff;
import dev.culvert.client.identity.Credentials;
import dev.culvert.client.identity.Identity;
import dev.culvert.client.identity.RenewalTimes;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.relay.Relay;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.SslContext;
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
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;

/**
 * One connection of a client's tunnel: decides when to dial, and holds the {@link LinkSession}s that it
 * dialled, the current one and those that end. Confined to one event loop.
 *
 * <pre>
 *  DUE ──delay──► DIALLING ──101, READY──► LIVE ──lost──► DUE
 *   ▲                 ├──failed──┐           ├──go-away──► DUE, while the old session's streams finish
 *   ├─────────────────┼──────────┘           └──old age──► DIALLING, while the old session goes on
 *   └──lost, go-away──┴──101, WAIT──► STANDBY ──READY──► LIVE
 *                          any ──pause──► PAUSED ──resume──► DIALLING
 *         any ──another connection is in STANDBY──► PARKED ──that one is LIVE──► DIALLING
 *                                    any ──stop──► STOPPED
 * </pre>
 */
final class Link {
    private static final Logger log = LoggerFactory.getLogger(Link.class);

    final Shared shared;
    final EventLoop loop;
    final Backoff backoff;
    private final int index;
    private final Handover handover;
    private final List<LinkSession> sessions = new ArrayList<>();
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
    private volatile @Nullable LinkSession current;

    /**
     * The state that all links of a client share.
     *
     * @param credentials supplies the newest credentials; called before each dial
     * @param announcement supplies the announcement of the routes behind {@code relay}; null for none
     * @param instance the random id of this process
     * @param priority the priority with which this process waits while another one owns the runtime
     * @param sessionLife the time after which a session is replaced, give or take a tenth
     * @param pace decides when to dial; is notified of each session
     * @param times decides when a session proves a certificate again; thread-safe
     * @param observer receives changes, on the link's event loop
     */
    record Shared(Dial dialler, List<URI> servers, Supplier<Credentials> credentials, Relay relay,
            Supplier<byte @Nullable []> announcement, SessionMeter meter, UUID instance, String software,
            SecureRandom random, TakeOver takeOver, int priority, Duration conflictRetry,
            Duration sessionLife,
            DialPace pace, RenewalTimes times,
            Observer observer) {

        /** Makes the hello of a connection's next session. */
        Hello hello(int index) {
            var nonce = new Hello.Nonce(random.nextLong(), random.nextLong(), random.nextLong(),
                    random.nextLong());
            return new Hello(Hello.VERSION, Hello.VERSION,
                    Hello.AUTH | Hello.ANNOUNCE | Hello.TCP | Hello.PROOF | Hello.SLOTS | Hello.STANDBY
                            | Hello.SPELLING,
                    instance.getMostSignificantBits(), instance.getLeastSignificantBits(), index,
                    takeOver.isWanted(), SessionLimits.defaults().accepts(), nonce, software, priority);
        }
    }

    /** Opens connections: {@link Dialler#dial}. */
    @FunctionalInterface
    interface Dial {
        Mono<Channel> dial(URI server, SslContext tls, int connection, EventLoop loop,
                Consumer<Channel> upgraded);
    }

    /** Receives the changes of a link. */
    interface Observer {
        void live(Link link, SessionEvent.Live live);

        /**
         * A session waits, because another instance owns the runtime.
         *
         * @param news whether the instance did not wait before, or for another owner
         */
        void waiting(SessionEvent.Waiting owner, boolean news);

        /** The instance waited and owns the runtime now. */
        void promoted();

        /**
         * A live session has ended.
         *
         * @param planned whether the server sent a go-away and another connection was dialled
         */
        void lost(Link link, String reason, boolean planned);

        /** The server does not accept the identity. */
        void refused();

        /** A connection could not be opened, and is dialled again. */
        void failed(String reason);
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
        LinkSession present = current;
        return present != null && present.isLive();
    }

    /** The last round trip in nanoseconds, or -1. Callable from any thread. */
    long rttNanos() {
        LinkSession present = current;
        return present == null || !present.isLive() ? -1 : present.handler().rttNanos();
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
        if (stopped || paused || shared.takeOver.waitsBeside(index)) {
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
                .dial(server, credentials.tls(), index, loop,
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
        if (!stopped && !paused) {
            shared.observer.failed(reason);
        }
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
        var next = new LinkSession(this, shared.hello(index), Dialler.hostName(server), identity);
        sessions.add(next);
        current = next;
        channel.pipeline().addLast(HandlerNames.SESSION, next.handler());
    }

    /**
     * Proves the newest identity on each session that uses an older one, also on those that were replaced:
     * the server drains a session when its certificate ends, and their streams may last longer. Callable from
     * any thread.
     */
    void prove() {
        loop.execute(() -> sessions.forEach(LinkSession::prove));
    }

    /** Sends the announcement to the server again. Callable from any thread. */
    void announce() {
        loop.execute(() -> Optional.ofNullable(current).ifPresent(LinkSession::announce));
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
            dialIfIdle();
        });
    }

    /** Dials if it did not because another connection waited. Callable from any thread. */
    void unpark() {
        loop.execute(this::dialIfIdle);
    }

    private void dialIfIdle() {
        if (!stopped && !paused && !dialling && current == null) {
            start(Duration.ZERO);
        }
    }

    /**
     * Asks the server to promote another instance before this one stops, and does not dial again. Callable
     * from any thread.
     */
    void handOver() {
        loop.execute(() -> {
            stopped = true;
            Optional.ofNullable(current).ifPresent(LinkSession::handOver);
        });
    }

    /** Whether the server opens streams and may answer {@link #handOver}. Callable from any thread. */
    boolean isServing() {
        LinkSession present = current;
        return present != null && present.isServing();
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

    // ---- changes of a session ----

    void live(LinkSession session, SessionEvent.Live ready) {
        dialling = false;
        handover.end();
        shared.pace.live(session.liveSinceNanos());
        boolean promoted = shared.takeOver.done();
        shared.observer.live(this, ready);
        if (promoted) {
            shared.observer.promoted();
        }
        if (stopped) {
            drain();
            return;
        }
        session.announce();
        session.age();
        prove(); // the identity was renewed during the dial
    }

    void waits(LinkSession session, SessionEvent.Waiting owner) {
        dialling = false;
        handover.end();
        boolean news = shared.takeOver.waits(index, owner, System.currentTimeMillis());
        shared.observer.waiting(owner, news);
        if (stopped) {
            drain();
            return;
        }
        session.prove(); // the identity was renewed during the dial
    }

    /**
     * Replaces an old session by make-before-break: the server closes this session when the next one is live.
     */
    void old(LinkSession session) {
        if (current == session && !dialling) {
            dial();
        }
    }

    void goingAway(LinkSession session, SessionEvent.GoingAway goingAway) {
        boolean replaced = goingAway.code() == ErrorCode.REPLACED || goingAway.code() == ErrorCode.CONFLICT;
        if (replaced) {
            shared.takeOver.lost();
        }
        boolean leaves = current == session && (session.isLive() || session.isWaiting()) && !stopped;
        if (leaves && (isGraceful(goingAway.code()) || (replaced && session.canStandby()))) {
            Duration delay = Duration
                    .ofMillis(Math.min(goingAway.delayMillis(), Backoff.MAX_ASKED.toMillis()));
            if (replaced || session.isWaiting()) {
                delay = delay.plus(backoff.beforeStandby());
            }
            shared.takeOver.ended(index);
            current = null;
            backoff.served(session.lifetime());
            handover.begin(delay, System.nanoTime());
            if (!dialling) {
                start(delay);
            }
        }
    }

    /**
     * Whether a go-away leaves the session's streams time to finish, while the next session is dialled
     * (docs/protocol.md §8).
     */
    private static boolean isGraceful(ErrorCode code) {
        return code == ErrorCode.NO_ERROR || code == ErrorCode.DRAINING;
    }

    /** @param lifetime the time for which the session was live */
    void closed(LinkSession session, SessionEvent.Closed closed, boolean wasLive, Duration lifetime) {
        boolean planned = current != session;
        sessions.remove(session);
        if (sessions.stream().noneMatch(LinkSession::isWaiting)) {
            shared.takeOver.ended(index);
        }
        if (!wasLive && closed.code() == ErrorCode.UNAUTHORIZED) {
            shared.observer.refused();
        }
        String reason = closed.code() + ": " + Objects.toString(closed.detail(), "");
        if (wasLive) {
            shared.pace.lost(System.nanoTime());
            shared.observer.lost(this, reason, planned);
        }
        if (!planned) {
            current = null;
            if (!wasLive || !dialling) {
                retry(delay(session, closed.code(), lifetime), reason);
            }
        }
    }

    private Duration delay(LinkSession session, ErrorCode code, Duration lifetime) {
        if (session.hasWaited() && code != ErrorCode.UNAUTHORIZED) {
            return backoff.beforeStandby();
        }
        boolean mayWait = session.canStandby() && code != ErrorCode.CONFLICT;
        if (!shared.takeOver.isOwner() && !mayWait) {
            return backoff.afterConflict(shared.conflictRetry);
        }
        return code == ErrorCode.UNAUTHORIZED ? backoff.afterRefusal() : backoff.afterLoss(lifetime);
    }
}
