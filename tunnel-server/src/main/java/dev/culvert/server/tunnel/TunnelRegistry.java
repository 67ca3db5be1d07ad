package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.TunnelDirectory;
import dev.culvert.server.runtime.TunnelState;
import dev.culvert.server.runtime.WaitingClient;
import io.netty.channel.EventLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Maps runtimes to the sessions of their tunnels. Changes briefly take the lock of one tunnel; look-ups for
 * requests take none.
 *
 * <p>One instance owns a tunnel, as {@link Ownership} decides. A new instance that may take over, or that
 * finds no owner, becomes the owner with a higher generation, and the sessions of the previous owner are
 * drained. Further connections of the owner join. Other instances wait or are refused.
 */
public final class TunnelRegistry implements TunnelDirectory {
    private static final Logger log = LoggerFactory.getLogger(TunnelRegistry.class);
    /** The time after its loss in which a tunnel counts as reconnecting. */
    static final Duration RECONNECTING = Duration.ofSeconds(30);
    /**
     * The maximum interval between two sessions that are drained because the server stops, so a few sessions
     * are drained quickly.
     */
    private static final Duration DRAIN_STEP = Duration.ofMillis(250);
    /** The minimum interval: of many sessions, several are drained together. */
    private static final Duration DRAIN_TICK = Duration.ofMillis(10);

    /**
     * The imbalance, in streams, that justifies a hop between event loops. A hop costs about half the CPU
     * time of a small request, at both ends of every request. A few more streams on the caller's own loop are
     * cheaper.
     */
    static final int HOP_WORTH_STREAMS = 16;

    /**
     * The maximum number of sessions of one tunnel that accept streams: four connections, and another four
     * while a new instance takes over.
     */
    static final int MAX_SESSIONS = 8;

    /**
     * The maximum number of replaced sessions of one tunnel. With four connections, their streams may go on
     * for 16 hours, WebSockets for 14.
     */
    static final int MAX_DRAINING = 32;

    /**
     * The number of the oldest of these that close their WebSockets: as many as one renewal of a client's
     * connections replaces.
     */
    static final int NEXT_TO_END = 4;

    /**
     * The shortest time after which a client that reached a leaving server dials again. The longest is twice
     * that.
     */
    private static final int DIAL_AGAIN_MILLIS = 250;

    private static final String STOPS = "the server stops";
    static final String TAKEN_OVER = "another client took this runtime over";

    /** Which sessions leave because the server stops. */
    private enum Leaving {
        NONE,
        /** All but one of each tunnel. */
        SPARES, ALL
    }

    private volatile Leaving leaving = Leaving.NONE;
    private final Map<String, Tunnel> tunnels = new ConcurrentHashMap<>();
    private final HeldRequests held;
    private final Instant started;
    private final LongAdder reconnects = new LongAdder();
    private final Clock clock;
    private final LongSupplier generations;
    private final Promotions promotions;
    private final ServerEvents events;

    public TunnelRegistry(Clock clock, LongSupplier generations, ServerEvents events, HeldRequests held) {
        this.held = held;
        this.events = events;
        this.clock = clock;
        this.generations = generations;
        this.promotions = new Promotions(generations, this::drainNow);
        this.started = clock.instant();
    }

    /** The requests that are held for tunnels. */
    public HeldRequests held() {
        return held;
    }

    /**
     * Whether a runtime without a session that accepts streams will have one soon: it drains or was lost less
     * than {@link #RECONNECTING} ago, or the server started less than that ago and the runtime was connected
     * before.
     */
    public boolean isExpected(RegisteredRuntime runtime) {
        Tunnel tunnel = tunnels.get(runtime.id());
        Instant lately = clock.instant().minus(RECONNECTING);
        Instant lost = tunnel == null ? null : tunnel.lost;
        if (tunnel != null && (tunnel.sessions.length > 0 || lost != null)) {
            return tunnel.sessions.length > 0 || (lost != null && lost.isAfter(lately));
        }
        // Without a tunnel, or its first session is being admitted.
        return started.isAfter(lately) && runtime.connected() != null;
    }

    /** Makes the sessions of a connection that is admitted. */
    public interface Sessions {
        LiveSession live(long generation);

        WaitingSession waiting();
    }

    /** Admits a client's connection, lets it wait, or refuses it. */
    public SessionVerdict admit(RegisteredRuntime runtime, Hello hello, Sessions make) {
        while (true) {
            Tunnel tunnel = tunnels.computeIfAbsent(runtime.id(), id -> new Tunnel());
            synchronized (tunnel) {
                if (!tunnel.forgotten) {
                    promotions.settle(tunnel);
                    SessionVerdict admission = admit(runtime, tunnel, hello, make);
                    promotions.settle(tunnel);
                    return admission;
                }
            }
        }
    }

    private SessionVerdict admit(RegisteredRuntime runtime, Tunnel tunnel, Hello hello, Sessions make) {
        UUID instance = WaitingSession.instanceOf(hello);
        if (tunnel.ownership.admits(instance, hello.takeOver()) && !tunnel.makeRoom()) {
            return new SessionVerdict.Refused("the runtime has as many connections as it may have");
        }
        WaitingSession promoted = tunnel.standby.get(instance);
        Ownership.Answer answer = tunnel.ownership.connected(instance, hello.takeOver(), hello.standby());
        return switch (answer) {
            case WAITS -> await(tunnel, make.waiting());
            case REFUSED -> {
                log.atWarn()
                        .addKeyValue("runtime", runtime.name())
                        .addKeyValue("generation", tunnel.generation)
                        .log("another client waits for this runtime");
                yield new SessionVerdict.Refused("another client serves this runtime");
            }
            case FULL -> new SessionVerdict.Refused("another client serves this runtime, and "
                    + WaitingInstances.MAX + " wait for it already, which is the limit");
            case OWNS -> {
                tunnel.generation = generations.getAsLong();
                yield serve(tunnel, hello, make);
            }
            case JOINS -> {
                if (promoted != null) { // a second connection answered its promotion
                    tunnel.generation = Math.max(tunnel.generation, promoted.generation);
                }
                yield serve(tunnel, hello, make);
            }
            case TAKES_OVER -> {
                log.atWarn()
                        .addKeyValue("runtime", runtime.name())
                        .addKeyValue("generation", tunnel.generation)
                        .log("another client takes this runtime over");
                tunnel.generation = generations.getAsLong();
                SessionVerdict.Serves served = serve(tunnel, hello, make);
                events.publish(ServerEvent.Kind.TAKEN_OVER, served.session(), TAKEN_OVER);
                yield served;
            }
        };
    }

    private SessionVerdict.Serves serve(Tunnel tunnel, Hello hello, Sessions make) {
        return new SessionVerdict.Serves(add(tunnel, hello, make.live(tunnel.generation)));
    }

    private LiveSession add(Tunnel tunnel, Hello hello, LiveSession session) {
        tunnel.refused.admitted(hello);
        if (tunnel.lost != null) {
            reconnects.increment();
        }
        for (LiveSession other : tunnel.sessions) {
            if (!other.isOf(hello)) {
                drainNow(other, ErrorCode.REPLACED, TAKEN_OVER);
            } else if (other.hello.connection() == hello.connection()) {
                other.retire(ErrorCode.DRAINING, "a newer connection replaced this one");
            }
        }
        tunnel.add(session);
        return session;
    }

    private SessionVerdict await(Tunnel tunnel, WaitingSession session) {
        tunnel.refused.admitted(session.hello);
        WaitingSession before = tunnel.await(session);
        if (before == null) {
            events.publish(ServerEvent.Kind.WAITING, session.runtime.name(), tunnel.generation,
                    session.remote, "another client serves this runtime");
        } else {
            session.since = before.since;
            before.goAway(ErrorCode.DRAINING, 0, "a newer connection replaced this one");
        }
        if (leaving == Leaving.ALL) {
            session.goAway(ErrorCode.DRAINING, dialAgainMillis(), STOPS);
        }
        return new SessionVerdict.Waits(session, tunnel.generation);
    }

    /**
     * A client has answered its promotion.
     *
     * @param make makes its session, given the generation
     * @return the session, already registered; null when another instance owns the tunnel by now
     */
    public @Nullable LiveSession promoted(WaitingSession waiting, LongFunction<LiveSession> make) {
        Tunnel tunnel = tunnels.get(waiting.runtime.id());
        if (tunnel == null) {
            return null;
        }
        synchronized (tunnel) {
            if (tunnel.forgotten || !promotions.answered(tunnel, waiting)) {
                return null;
            }
            LiveSession session = add(tunnel, waiting.hello, make.apply(waiting.generation));
            events.publish(ServerEvent.Kind.PROMOTED, session, "it waited, and the owner went");
            promotions.settle(tunnel);
            return session;
        }
    }

    /** A session that waited has ended. */
    public void ended(WaitingSession waiting) {
        Tunnel tunnel = tunnels.get(waiting.runtime.id());
        if (tunnel != null) {
            synchronized (tunnel) {
                if (waiting.equals(tunnel.standby.get(waiting.instance))) {
                    events.publish(ServerEvent.Kind.STOPPED_WAITING, waiting.runtime.name(),
                            tunnel.generation, waiting.remote, null);
                }
                promotions.ended(tunnel, waiting);
            }
        }
    }

    /** The client of a session stops soon. Its instance is let go once another one serves, or at once. */
    public void leaves(LiveSession session) {
        change(session, tunnel -> tunnel.ownership.leaves(WaitingSession.instanceOf(session.hello)));
    }

    /** A session takes no more streams. */
    public void stopped(LiveSession session) {
        change(session, tunnel -> session.stopAccepting());
    }

    private void change(LiveSession session, Consumer<Tunnel> change) {
        Tunnel tunnel = tunnels.get(session.runtime.id());
        if (tunnel == null) {
            session.stopAccepting();
            return;
        }
        synchronized (tunnel) {
            change.accept(tunnel);
            promotions.settle(tunnel);
        }
    }

    /**
     * Drains a session: opens no more streams, and closes it when the streams in flight have ended. If it is
     * the last of an owner that has a successor, the successor is promoted before.
     */
    public void drain(LiveSession session, ErrorCode code, String detail) {
        change(session, tunnel -> {
            if (mayHandOver(tunnel, session) && !tunnel.servesBeside(session)) {
                tunnel.ownership.leaves(WaitingSession.instanceOf(session.hello));
            } else {
                drainNow(session, code, detail);
            }
        });
    }

    private boolean mayHandOver(Tunnel tunnel, LiveSession session) {
        return leaving == Leaving.NONE && session.isAccepting()
                && WaitingSession.instanceOf(session.hello).equals(tunnel.ownership.owner())
                && tunnel.ownership.hasSuccessor();
    }

    private void drainNow(LiveSession session, ErrorCode code, String detail) {
        if (session.isAccepting()) {
            events.publish(ServerEvent.Kind.DRAINING, session, detail); // before the event of its end
        }
        session.drain(code, detail);
    }

    /** Records a refused client. It counts as waiting if another instance owns the tunnel. */
    public void refused(RegisteredRuntime runtime, Hello hello, String remote) {
        Tunnel tunnel = tunnels.get(runtime.id());
        if (tunnel == null) {
            return;
        }
        synchronized (tunnel) {
            UUID owner = tunnel.ownership.owner();
            if (owner != null && !owner.equals(WaitingSession.instanceOf(hello))
                    && tunnel.refused.refused(hello, remote, clock.instant())) {
                events.publish(ServerEvent.Kind.WAITING, runtime.name(), tunnel.generation, remote,
                        "another client with the same identity serves this runtime");
            }
        }
    }

    @Override
    public List<WaitingClient> waitingFor(String runtimeId) {
        Tunnel tunnel = tunnels.get(runtimeId);
        if (tunnel == null) {
            return List.of();
        }
        Instant now = clock.instant();
        List<WaitingClient> all = new ArrayList<>();
        tunnel.standby.values()
                .stream()
                .sorted(Comparator.comparing((WaitingSession session) -> session.since))
                .forEach(session -> all.add(session.view(now)));
        synchronized (tunnel) {
            all.addAll(tunnel.refused.at(now));
        }
        return all;
    }

    /** Removes an ended session. */
    public void remove(LiveSession session) {
        change(session, tunnel -> {
            session.stopAccepting();
            tunnel.remove(session, clock.instant());
        });
    }

    /**
     * Picks a session that accepts streams: the one on {@code loop}, unless it has clearly more streams than
     * another; otherwise the least loaded. Takes no lock.
     */
    @Nullable
    LiveSession pick(String runtimeId, EventLoop loop) {
        Tunnel tunnel = tunnels.get(runtimeId);
        if (tunnel == null) {
            return null;
        }
        LiveSession own = null;
        LiveSession least = null;
        for (LiveSession session : tunnel.sessions) {
            if (!session.isAccepting()) {
                continue;
            }
            own = session.loop.equals(loop) ? lighter(own, session) : own;
            least = lighter(least, session);
        }
        return own == null || least == null || isOverburdened(own, least) ? least : own;
    }

    private static LiveSession lighter(@Nullable LiveSession one, LiveSession other) {
        return one == null || other.handler.streamCount() < one.handler.streamCount() ? other : one;
    }

    /** Whether a hop to another event loop costs less than sharing this loop with that many more streams. */
    private static boolean isOverburdened(LiveSession own, LiveSession least) {
        return own.handler.streamCount() > 2 * least.handler.streamCount() + HOP_WORTH_STREAMS;
    }

    /** Whether a stream could be opened now, apart from limits. Takes no lock. */
    public boolean isReachable(String runtimeId) {
        for (LiveSession session : sessionsIn(runtimeId)) {
            if (session.isAccepting()) {
                return true;
            }
        }
        return false;
    }

    /**
     * The event loops of the sessions of a runtime that accept streams, one entry for each session, without
     * those of the connection number {@code replaced}.
     */
    public List<EventLoop> loopsOf(String runtimeId, int replaced) {
        return Stream.of(sessionsIn(runtimeId))
                .filter(session -> session.isAccepting() && session.hello.connection() != replaced)
                .map(session -> session.loop)
                .toList();
    }

    /** The longest of all sessions' last round trips, in seconds; 0 before the first. */
    double longestRttSeconds() {
        long longest = 0;
        for (Tunnel tunnel : tunnels.values()) {
            for (LiveSession session : tunnel.sessions) {
                longest = Math.max(longest, session.handler.rttNanos());
            }
        }
        return longest / 1e9;
    }

    /** The number of tunnels that reconnected after all their sessions were lost, since the start. */
    public long reconnects() {
        return reconnects.sum();
    }

    /** The number of sessions that wait. */
    int waiting() {
        int waiting = 0;
        for (Tunnel tunnel : tunnels.values()) {
            waiting += tunnel.standby.size();
        }
        return waiting;
    }

    /** The promotions since the start. */
    Promotions promotions() {
        return promotions;
    }

    /** The number of tunnels with at least one session. */
    int connected() {
        int connected = 0;
        for (Tunnel tunnel : tunnels.values()) {
            connected += tunnel.sessions.length > 0 ? 1 : 0;
        }
        return connected;
    }

    @Override
    public List<SessionView> sessions() {
        List<SessionView> views = new ArrayList<>();
        for (Tunnel tunnel : tunnels.values()) {
            for (LiveSession session : tunnel.sessions) {
                views.add(session.view());
            }
        }
        return views;
    }

    @Override
    public List<SessionView> sessionsOf(String runtimeId) {
        List<SessionView> views = new ArrayList<>();
        for (LiveSession session : sessionsIn(runtimeId)) {
            views.add(session.view());
        }
        return views;
    }

    private LiveSession[] sessionsIn(String runtimeId) {
        Tunnel tunnel = tunnels.get(runtimeId);
        return tunnel == null ? Tunnel.NONE : tunnel.sessions;
    }

    @Override
    public TunnelState stateOf(String runtimeId) {
        Tunnel tunnel = tunnels.get(runtimeId);
        if (tunnel == null) {
            return TunnelState.DISCONNECTED;
        }
        if (tunnel.sessions.length > 0) {
            return TunnelState.CONNECTED;
        }
        Instant lost = tunnel.lost;
        boolean lately = lost != null && lost.plus(RECONNECTING).isAfter(clock.instant());
        return lately ? TunnelState.RECONNECTING : TunnelState.DISCONNECTED;
    }

    @Override
    public @Nullable Instant lostAt(String runtimeId) {
        Tunnel tunnel = tunnels.get(runtimeId);
        return tunnel == null ? null : tunnel.lost;
    }

    @Override
    public boolean drain(String sessionId) {
        LiveSession session = session(sessionId);
        if (session == null) {
            return false;
        }
        change(session, tunnel -> {
            if (mayHandOver(tunnel, session)) {
                tunnel.ownership.leaves(WaitingSession.instanceOf(session.hello));
            } else {
                drainNow(session, ErrorCode.DRAINING, "drained by an operator");
            }
        });
        return true;
    }

    @Override
    public boolean close(String sessionId) {
        LiveSession session = session(sessionId);
        if (session == null) {
            return false;
        }
        change(session, tunnel -> session.close(ErrorCode.DRAINING, "closed by an operator"));
        return true;
    }

    private @Nullable LiveSession session(String id) {
        for (Tunnel tunnel : tunnels.values()) {
            for (LiveSession session : tunnel.sessions) {
                if (session.id.toString().equals(id)) {
                    return session;
                }
            }
        }
        return null;
    }

    @Override
    public void closeAll(String runtimeId, String reason) {
        Tunnel tunnel = tunnels.remove(runtimeId);
        if (tunnel != null) {
            synchronized (tunnel) {
                tunnel.forgotten = true;
            }
            for (LiveSession session : tunnel.sessions) {
                session.close(ErrorCode.UNAUTHORIZED, reason);
            }
            for (WaitingSession session : tunnel.standby.values()) {
                session.close(ErrorCode.UNAUTHORIZED, reason);
            }
            held.wake(runtimeId);
        }
    }

    /**
     * Drains all sessions of each tunnel but one, because another server has begun to listen and callers may
     * arrive at both. The first is drained at once, the others evenly over {@code most}, or faster if they
     * are few. A session that becomes live from now on is drained if its tunnel has another one. Completes
     * when all have been asked to drain.
     */
    public Mono<Void> drainSpares(Duration most) {
        return Mono.defer(() -> {
            leaving = Leaving.SPARES;
            return drain(tunnels.values().stream().flatMap(TunnelRegistry::spares).toList(), most);
        });
    }

    private static Stream<LiveSession> spares(Tunnel tunnel) {
        return Stream.of(tunnel.sessions).filter(LiveSession::isAccepting).skip(1);
    }

    /**
     * Drains every session, because the server stops: the first at once, the others evenly over {@code most},
     * or faster if they are few. Tunnels with few sessions are first, because they may have none at another
     * server yet. A session that becomes live from now on is drained at once. Completes when all sessions
     * have been asked to drain.
     */
    public Mono<Void> drainAll(Duration most) {
        return Mono.defer(() -> {
            leaving = Leaving.ALL;
            Mono<Void> waitingGo = drainWaiting();
            return drain(tunnels.values()
                    .stream()
                    .map(tunnel -> tunnel.sessions)
                    .sorted(Comparator.comparingInt(sessions -> sessions.length))
                    .flatMap(Stream::of)
                    .toList(), most).then(waitingGo);
        });
    }

    /**
     * Promotes no instance from now on. Sends those that wait away once this is subscribed to, after the
     * owners.
     */
    private Mono<Void> drainWaiting() {
        for (Tunnel tunnel : tunnels.values()) {
            synchronized (tunnel) {
                tunnel.ownership.stop();
            }
        }
        return Mono.fromRunnable(() -> tunnels.values()
                .forEach(tunnel -> tunnel.standby.values()
                        .forEach(session -> session.goAway(ErrorCode.DRAINING, dialAgainMillis(), STOPS))));
    }

    private static int dialAgainMillis() {
        return ThreadLocalRandom.current().nextInt(DIAL_AGAIN_MILLIS, 2 * DIAL_AGAIN_MILLIS);
    }

    /**
     * A session is live. If the server stops, the session is asked to go after a moment: a balancer may have
     * brought its client to this server once more.
     */
    public void opened(LiveSession session) {
        boolean goes = switch (leaving) {
            case NONE -> false;
            case SPARES -> Stream.of(sessionsIn(session.runtime.id()))
                    .anyMatch(other -> !other.equals(session) && other.isAccepting());
            case ALL -> true;
        };
        if (goes) {
            session.drain(ErrorCode.DRAINING, dialAgainMillis(), STOPS);
        }
    }

    private Mono<Void> drain(List<LiveSession> all, Duration most) {
        if (all.isEmpty()) {
            return Mono.empty();
        }
        Duration step = shorter(most.dividedBy(all.size()), DRAIN_STEP);
        int together = Math.toIntExact(1 + DRAIN_TICK.toNanos() / Math.max(1, step.toNanos()));
        int each = Math.min(together, all.size());
        int batches = (all.size() + each - 1) / each;
        return Flux.interval(Duration.ZERO, step.multipliedBy(each))
                .onBackpressureBuffer()
                .take(batches)
                .flatMapIterable(batch -> batch(all, Math.toIntExact(batch), each))
                .doOnNext(session -> drainNow(session, ErrorCode.DRAINING, STOPS))
                .then();
    }

    private static List<LiveSession> batch(List<LiveSession> all, int batch, int each) {
        return all.subList(batch * each, Math.min(all.size(), (batch + 1) * each));
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
