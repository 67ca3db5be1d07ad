package dev.culvert.client.link;

import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.DialPace;
import dev.culvert.client.dial.Dialler;
import dev.culvert.client.identity.Credentials;
import dev.culvert.client.identity.RenewalTimes;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.observe.TunnelFigures;
import dev.culvert.http.observe.Version;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.routing.RouterAudit;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The connections of one tunnel, each on a separate event loop if there are enough. */
public final class TunnelLinks implements Link.Observer, TunnelFigures {
    private static final Logger log = LoggerFactory.getLogger(TunnelLinks.class);
    /** The grace of a drain, as the contract specifies. */
    public static final Duration GRACE = Duration.ofSeconds(30);
    private static final Relay PAUSED = (request, response) -> {
        response.fail(
                Problem.of(Cause.DRAINING, Hop.ROUTER, "the cluster's operator has paused this runtime"));
        return SwallowingSink.INSTANCE;
    };
    private static final Duration POLL = Duration.ofMillis(20);
    /** The time in which the server promotes another instance: twice the time for an answer, and a bit. */
    private static final Duration HAND_OVER = Duration.ofSeconds(5);

    private final ClientConfig config;
    private final EventLoops loops;
    private final Dialler dialler;
    private final Consumer<ClientEvent> events;
    private final EndedExchange.@Nullable Listener exchanges;
    private final SessionMeter meter = new SessionMeter();
    private final Upstream upstream;
    private final Counter reconnects;
    /** Prevents all connections of all clients from dialling a restarted server at once. */
    private final DialPace pace = new DialPace();
    private final AtomicInteger liveLinks = new AtomicInteger();
    private final LongAdder promotions = new LongAdder();
    private final TakeOver takeOver;
    private volatile List<Link> links = List.of();
    private volatile Runnable refused = () -> {};
    private volatile boolean stopping;
    private volatile boolean paused;
    private Duration pausedWith = GRACE;

    /** @param exchanges receives the end of each exchange; null: nobody does, and none is observed */
    public TunnelLinks(ClientConfig config, EventLoops loops, Dialler dialler, Telemetry telemetry,
            RouterAudit audit,
            Consumer<ClientEvent> events, EndedExchange.@Nullable Listener exchanges) {
        this.exchanges = exchanges;
        this.config = config;
        this.loops = loops;
        this.dialler = dialler;
        this.events = events;
        this.takeOver = new TakeOver(config.standby().takesOver());
        this.upstream = Upstream.of(config, audit, telemetry, this::announce);
        this.reconnects = Counter.builder("culvert.tunnel.reconnects").register(telemetry.registry());
        telemetry.tunnels(this);
        Gauge.builder("culvert.client.paused", this, links -> links.paused ? 1 : 0)
                .strongReference(true)
                .register(telemetry.registry());
    }

    /**
     * Dials the first connection after {@code delay}. Dials the others when the first is live, one second
     * apart. Has no effect after a stop.
     *
     * @param whenRefused called on an event loop when the server refuses the identity
     */
    public synchronized void start(Supplier<Credentials> credentials, Runnable whenRefused, Duration delay) {
        if (stopping) {
            return;
        }
        refused = whenRefused;
        pace.begin(System.nanoTime());
        var random = new SecureRandom();
        var shared = new Link.Shared(dialler::dial, config.server(), credentials, this::relay,
                upstream.announcement(),
                meter,
                UUID.randomUUID(), "culvert/" + Version.current(), random, takeOver,
                config.standby().priority(), config.conflictRetry(), config.sessionLife(), pace,
                new RenewalTimes(Clock.systemUTC(), random),
                this);
        List<Link> all = new ArrayList<>();
        for (int index = 0; index < config.connections(); index++) {
            Link link = new Link(shared, index, loops.group().next());
            if (paused) {
                link.pause(pausedWith);
            }
            link.start(delay.plus(DialPace.SPACING.multipliedBy(index)));
            all.add(link);
        }
        links = List.copyOf(all);
    }

    /** Forwards a request. Refuses streams that the server opens while an operator has paused this client. */
    private RequestSink relay(RelayRequest request, ResponseSink response) {
        Relay relay = paused ? PAUSED : upstream.relay();
        EndedExchange.Listener listener = exchanges;
        return listener == null
                ? relay.open(request, response)
                : ObservedExchange.open(request, response, relay, listener);
    }

    /**
     * Closes the tunnel. Streams in progress have {@code grace} to end. Does not dial until {@link #resume}.
     */
    public synchronized void pause(Duration grace) {
        boolean sooner = grace.compareTo(pausedWith) < 0;
        if (!paused || sooner) {
            paused = true;
            pausedWith = grace;
            links.forEach(link -> link.pause(grace));
            log.atInfo().addKeyValue("graceSeconds", grace.toSeconds()).log("tunnel paused by an operator");
        }
    }

    /** Applies other routes and policy, and announces them to the server. Must not run on an event loop. */
    public void reload(ClientConfig changed, String origin) {
        if (upstream.reload().take(changed, origin)) {
            announce();
        }
    }

    private void announce() {
        links.forEach(Link::announce);
    }

    /** Dials again. */
    public synchronized void resume() {
        if (paused) {
            paused = false;
            pausedWith = GRACE;
            pace.begin(System.nanoTime());
            links.forEach(Link::resume);
            log.atInfo().log("tunnel resumed by an operator");
        }
    }

    public boolean isPaused() {
        return paused;
    }

    /** Called when the identity was renewed. All sessions prove it. */
    void prove() {
        links.forEach(Link::prove);
    }

    /** Called when a refused identity was replaced by another one. Waiting dials start now. */
    void dialNow() {
        links.forEach(Link::dialNow);
    }

    @Override
    public void refused() {
        refused.run();
    }

    @Override
    public void failed(String reason) {
        if (!isLive()) {
            events.accept(new ClientEvent.NotConnected(reason));
        }
    }

    @Override
    public void waiting(SessionEvent.Waiting owner, boolean news) {
        if (news) {
            log.atInfo()
                    .addKeyValue("runtime", owner.runtime())
                    .addKeyValue("generation", owner.generation())
                    .addKeyValue("priority", config.standby().priority())
                    .log("waiting, another client serves this runtime");
            events.accept(new ClientEvent.Waiting(owner.runtime(), owner.host(), owner.generation(),
                    config.standby().priority()));
        }
    }

    /** Whether another instance owns the runtime, and this one waits until the server promotes it. */
    public boolean isWaiting() {
        return takeOver.isWaiting();
    }

    /** The time at which the instance began to wait, in milliseconds since 1970; null if it does not wait. */
    public @Nullable Long waitingSinceMillis() {
        return takeOver.waitingSinceMillis();
    }

    @Override
    public void promoted() {
        promotions.increment();
        links.forEach(Link::unpark);
    }

    @Override
    public void live(Link link, SessionEvent.Live live) {
        if (liveLinks.getAndIncrement() == 0) {
            log.atInfo()
                    .addKeyValue("runtime", live.runtime())
                    .addKeyValue("host", live.host())
                    .addKeyValue("generation", live.generation())
                    .log("tunnel opened");
            events.accept(new ClientEvent.Connected(live.runtime(), live.host(), live.generation()));
        }
    }

    @Override
    public void lost(Link link, String reason, boolean planned) {
        if (!planned) {
            reconnects.increment();
        }
        if (liveLinks.decrementAndGet() == 0) {
            (stopping || paused ? log.atInfo() : log.atWarn()).addKeyValue("reason", reason)
                    .log(stopping || paused ? "tunnel closed" : "tunnel lost");
            events.accept(new ClientEvent.Disconnected(reason));
        }
    }

    public boolean isLive() {
        return liveLinks.get() > 0;
    }

    @Override
    public int connected() {
        return isLive() ? 1 : 0;
    }

    @Override
    public int waiting() {
        return isWaiting() ? 1 : 0;
    }

    @Override
    public long promotions() {
        return promotions.sum();
    }

    @Override
    public long unansweredPromotions() {
        return 0;
    }

    @Override
    public long streams() {
        return meter.streams();
    }

    @Override
    public long bufferedBytes() {
        return meter.bufferedBytes() + upstream.bufferedBytes().getAsLong();
    }

    @Override
    public long receivedBytes() {
        return meter.receivedBytes();
    }

    @Override
    public long refusedMemory() {
        return meter.refusedMemory();
    }

    @Override
    public long sentBytes() {
        return meter.sentBytes();
    }

    @Override
    public double rttSeconds() {
        return links.stream().mapToLong(Link::rttNanos).filter(rtt -> rtt >= 0).min().orElse(0) / 1e9;
    }

    /** Drains the links under the lock of {@link #start}, which starts no link after this. */
    private synchronized void drain() {
        stopping = true;
        links.forEach(Link::drain);
    }

    /** Asks for a successor while the connections still serve, at most for {@link #HAND_OVER}. */
    private Mono<Void> handOver(Duration grace) {
        return Mono.defer(() -> {
            synchronized (this) {
                stopping = true;
                links.forEach(Link::handOver);
            }
            Duration most = grace.compareTo(HAND_OVER) < 0 ? grace : HAND_OVER;
            return Flux.interval(Duration.ZERO, POLL)
                    .takeUntil(tick -> links.stream().noneMatch(Link::isServing))
                    .takeUntilOther(Mono.delay(most))
                    .then();
        });
    }

    /**
     * Lets another instance take over, then drains live connections for at most {@code grace}. No connection
     * is dialled from now on, not even by a later start.
     */
    public Mono<Void> stop(Duration grace) {
        return handOver(grace).then(Mono.defer(() -> {
            drain();
            return Flux.interval(Duration.ZERO, POLL)
                    .takeUntil(tick -> !isLive())
                    .takeUntilOther(Mono.delay(grace))
                    .then(Mono.fromRunnable(() -> links.forEach(Link::close)))
                    .then(Mono.fromRunnable(upstream.close()));
        }));
    }
}
