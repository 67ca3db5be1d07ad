package dev.culvert.client;

import dev.culvert.edge.relay.Relay;
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
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a client's tunnel: dials, serves its streams, dials again, for ever. Lives on one event loop.
 *
 * <pre>
 *  WAITING ──delay──► DIALLING ──101, READY──► LIVE ──lost──► WAITING
 *     ▲                  └──failed──┐            └──go-away──► (streams finish) ──► WAITING
 *     └─────────────────────────────┘                     any ──stop──► STOPPED
 * </pre>
 */
final class Link {
    private static final Logger log = LoggerFactory.getLogger(Link.class);

    private final Shared shared;
    private final int index;
    private final EventLoop loop;
    private final Backoff backoff = new Backoff(ThreadLocalRandom.current());
    private int attempts;
    private boolean stopped;
    private long liveSinceNanos;
    /** Whose certificate the present session rests on. */
    private @Nullable Identity proven;
    private @Nullable Hello ownHello;
    private volatile @Nullable ScheduledFuture<?> waiting;
    private volatile @Nullable TunnelChannelHandler handler;
    private volatile boolean live;

    /**
     * What the links of a client share.
     *
     * @param credentials asked before each dial, so that a renewed identity is used
     * @param instance random id of this process
     * @param observer told of changes, on the link's event loop
     */
    record Shared(Dialler dialler, List<URI> servers, Supplier<Credentials> credentials, Relay relay,
            SessionMeter meter,
            UUID instance, String software, SecureRandom random, TakeOver takeOver, Observer observer) {}

    /** Told of a link's changes. */
    interface Observer {
        void live(Link link, SessionEvent.Live live);

        void lost(Link link, String reason);

        /** The server does not accept the identity. */
        void refused();
    }

    Link(Shared shared, int index, EventLoop loop) {
        this.shared = shared;
        this.index = index;
        this.loop = loop;
    }

    /** Whether a session is established and heard from. Callable from any thread. */
    boolean isLive() {
        return live;
    }

    /** The last round trip in nanoseconds, or -1. Callable from any thread. */
    long rttNanos() {
        TunnelChannelHandler present = handler;
        return present == null || !live ? -1 : present.rttNanos();
    }

    /** Starts dialling after {@code delay}. */
    void start(Duration delay) {
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
        if (stopped) {
            return;
        }
        URI server = shared.servers.get(attempts++ % shared.servers.size());
        Credentials credentials = shared.credentials.get();
        proven = credentials.identity();
        shared.dialler.dial(server, credentials.tls(), loop, this::upgraded)
                .subscribe(channel -> {}, failure -> loop.execute(() -> failed(failure)));
    }

    private void failed(Throwable failure) {
        boolean refused = failure instanceof DialFailure dial && dial.isRefused();
        if (refused) {
            shared.observer.refused();
        }
        retry(refused ? backoff.afterRefusal() : backoff.afterLoss(Duration.ZERO),
                String.valueOf(failure.getMessage()));
    }

    private void retry(Duration delay, String reason) {
        if (stopped) {
            return;
        }
        log.atWarn()
                .addKeyValue("connection", index)
                .addKeyValue("reason", reason)
                .addKeyValue("retryInMillis", delay.toMillis())
                .log("no tunnel connection");
        start(delay);
    }

    /** The WebSocket is open: a session takes it over, in the same pass. */
    private void upgraded(Channel channel) {
        if (stopped) {
            channel.close();
            return;
        }
        SessionLimits limits = SessionLimits.defaults();
        SecureRandom random = shared.random;
        Hello hello = new Hello(Hello.VERSION, Hello.VERSION, Hello.AUTH,
                shared.instance.getMostSignificantBits(),
                shared.instance.getLeastSignificantBits(), index, shared.takeOver.isWanted(),
                limits.accepts(),
                new Hello.Nonce(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong()),
                shared.software);
        ownHello = hello;
        Session session = new Session(Session.Role.CLIENT, hello, limits, System.nanoTime());
        TunnelChannelHandler opened = new TunnelChannelHandler(session, true, new Tunnelled(), shared.meter);
        handler = opened;
        channel.pipeline().addLast(opened);
    }

    /** Proves the newest identity on the present session, if that rests on an older one. Callable from any thread. */
    void prove() {
        loop.execute(() -> {
            Identity newest = shared.credentials.get().identity();
            TunnelChannelHandler present = handler;
            if (present == null || !live || newest.equals(proven)) {
                return; // the next session begins with it
            }
            Hello server = present.peerHello();
            Hello client = ownHello;
            if (server == null || client == null) {
                return;
            }
            SessionProof.of(newest, server.nonce(), client.nonce())
                    .subscribe(proof -> loop.execute(() -> prove(present, newest, proof)),
                            error -> log.atError().setCause(error).log("certificate can't be proven"));
        });
    }

    private void prove(TunnelChannelHandler session, Identity identity, SessionProof proof) {
        if (session == handler && session.auth(proof.certificate(), proof.signature())) {
            proven = identity;
        }
    }

    /** Takes no new streams, lets those in flight finish, and does not dial again. */
    void drain() {
        loop.execute(() -> {
            stopped = true;
            if (handler != null) {
                handler.goAway(ErrorCode.DRAINING, 0, "the client stops");
            }
        });
    }

    /** Closes at once. */
    void close() {
        loop.execute(() -> {
            stopped = true;
            if (handler != null) {
                handler.close(ErrorCode.DRAINING, "the client stops");
            }
        });
    }

    /** Follows one session. */
    private final class Tunnelled implements SessionListener {
        @Override
        public void live(SessionEvent.Live ready) {
            live = true;
            liveSinceNanos = System.nanoTime();
            shared.takeOver.done();
            shared.observer.live(Link.this, ready);
            if (stopped) {
                drain();
            } else {
                prove(); // renewed while this was dialled
            }
        }

        @Override
        public void authAnswered(SessionEvent.AuthAnswer answer) {
            if (answer.code() != ErrorCode.NO_ERROR) {
                log.atWarn()
                        .addKeyValue("connection", index)
                        .addKeyValue("reason", answer.detail())
                        .log("renewed certificate refused, the session goes on with the one before");
            }
        }

        @Override
        public StreamListener opened(TunnelStream stream, SessionEvent.Opened opened) {
            return StreamForwarder.forward(stream, opened, shared.relay, loop);
        }

        @Override
        public void goingAway(SessionEvent.GoingAway goingAway) {
            if (goingAway.code() == ErrorCode.REPLACED || goingAway.code() == ErrorCode.CONFLICT) {
                shared.takeOver.lost();
            }
        }

        @Override
        public void closed(SessionEvent.Closed closed) {
            Duration lifetime = live ? Duration.ofNanos(System.nanoTime() - liveSinceNanos) : Duration.ZERO;
            boolean wasLive = live;
            live = false;
            handler = null;
            String reason = closed.code() + ": " + Objects.toString(closed.detail(), "");
            if (wasLive) {
                shared.observer.lost(Link.this, reason);
            }
            retry(delay(closed.code(), lifetime), reason);
        }

        private Duration delay(ErrorCode code, Duration lifetime) {
            if (!shared.takeOver.isOwner()) {
                return backoff.afterConflict();
            }
            return code == ErrorCode.UNAUTHORIZED ? backoff.afterRefusal() : backoff.afterLoss(lifetime);
        }
    }
}
