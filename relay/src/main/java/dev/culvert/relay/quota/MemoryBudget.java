package dev.culvert.relay.quota;

import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import io.micrometer.core.instrument.Gauge;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/**
 * Limits the bytes of callers' bodies in this process, so that it never runs out of memory. Its stages, by
 * usage:
 *
 * <pre>
 *  3/5    a spent budget is free again: waiting exchanges continue, as many at once as there is room for
 *  4/5    the budget is spent: requests are refused and exchanges stop reading, except those of light sources
 *  9/10   exchanges that receive more end, if their runtime's share is full or their source is not light
 *  19/20  the budget is spent for light sources, too, unless heavier ones give way to them
 *  all    every exchange that receives more ends
 * </pre>
 *
 * A light source holds next to nothing. The last fifth is reserved for bytes that windows granted before, and
 * for light sources, which stop only when it is used, too. Safe for use by any thread.
 *
 * <p>Bytes are counted from socket to socket, with the overhead of their parts and heads (see
 * {@link BudgetedBytes}). Further overhead of buffers is not counted. Therefore a second bound watches the
 * memory that the allocator took from the system: at seven eighths of the direct memory the budget also
 * counts as spent, and the heaviest sources give way; light ones go on.
 */
public final class MemoryBudget {
    /** The bytes that a continuing exchange may read before the budget is checked again. */
    private static final int STEP = 64 << 10;
    /** The maximum number of sources examined in one tick. Sources that ask again are examined later. */
    private static final int MAX_ASKING = 64;
    /** A source that holds less than one part in this many of the budget may use the reserve. */
    private static final int LIGHT_PART = 64;
    /** The interval at which waiting exchanges are resumed and slow ones are cut. */
    private static final Duration TICK = Duration.ofMillis(50);

    private final long max;
    /** The usage from which the budget is spent. */
    private final long high;
    private final long low;
    /** The usage from which exchanges end when they receive more, if they hold more than next to nothing. */
    private final long full;
    /** The usage from which no request begins and no exchange is read. */
    private final long gone;
    private final LongSupplier direct;
    private final long directHigh;
    private final long directLow;
    private final AtomicLong used = new AtomicLong();
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    /** The upstreams that lag. */
    private final Map<Lag, MemoryShare> lagging = new ConcurrentHashMap<>();
    /** The shares that have readers. */
    private final Set<MemoryShare> reading = ConcurrentHashMap.newKeySet();
    private final Quota<SourceAddress> sources;
    /** Sources that recently asked for memory when there was none. */
    private final Set<SourceAddress> asking = ConcurrentHashMap.newKeySet();
    private volatile boolean spent;

    /** An exchange that continues when there is room. */
    private record Waiting(MemoryShare share, SourceAddress source, EventLoop loop, Runnable goOn) {}

    MemoryBudget(long max, LongSupplier direct, long directMax) {
        this.max = max;
        this.high = max - max / 5;
        this.low = high - high / 4;
        this.full = max - max / 10;
        this.gone = max - max / 20;
        this.sources = new Quota<>(max);
        this.direct = direct;
        this.directHigh = directMax - directMax / 8;
        this.directLow = directMax - directMax / 4;
    }

    /**
     * Creates the budget of this process.
     *
     * @param max the maximum bytes; 0: a quarter of the direct memory, because the memory of sockets and TLS
     *     is not counted
     */
    public static MemoryBudget ofProcess(long max) {
        long directMax = DirectMemory.max();
        return new MemoryBudget(max == 0 ? directMax / 4 : max, DirectMemory::used, directMax);
    }

    /** Registers the meters {@code culvert_memory_budget_bytes}. Returns this budget. */
    public MemoryBudget shown(Telemetry telemetry) {
        gauge("used", MemoryBudget::used, telemetry);
        gauge("max", MemoryBudget::max, telemetry);
        return this;
    }

    private void gauge(String kind, ToDoubleFunction<MemoryBudget> value, Telemetry telemetry) {
        Gauge.builder("culvert.memory.budget", this, value)
                .baseUnit("bytes")
                .tag("kind", kind)
                .strongReference(true)
                .register(telemetry.registry());
    }

    /** Starts the ticks, until disposed. */
    public Disposable ticking() {
        return Schedulers.parallel()
                .schedulePeriodically(this::tick, TICK.toMillis(), TICK.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** The maximum number of bytes. */
    public long max() {
        return max;
    }

    /** The usage from which the budget is spent, in bytes. */
    long high() {
        return high;
    }

    /** The number of bytes held now. */
    public long used() {
        return used.get();
    }

    /** Whether no request may begin, except those of sources that hold next to nothing. */
    public boolean isSpent() {
        return spent;
    }

    /** Whether no request of this source may begin, and its exchanges in progress should stop reading. */
    boolean isSpentFor(SourceAddress source) {
        return spent && (isGone() || isHeavy(source));
    }

    /** Whether the reserve is used, too, without what sources free that give way. */
    private boolean isGone() {
        long now = used.get();
        return now >= gone && now - sources.leaving() >= gone;
    }

    /** Makes room for a request of a light source: exchanges of heavier ones give way at once. */
    void makeRoom(SourceAddress source) {
        if (spent && isGone() && !isHeavy(source)) {
            sources.shedHeavierThan(source, used.get() - low);
        }
    }

    /** Whether this source holds more than next to nothing. */
    boolean isHeavy(SourceAddress source) {
        return sources.usedBy(source) >= high / LIGHT_PART;
    }

    /**
     * Whether an exchange that has just received more must end, although its window granted the bytes before
     * memory was short.
     */
    boolean isTooMuch(MemoryShare share, SourceAddress source) {
        long now = used.get();
        return now > max || now >= full && (share.isFullFor(source) || isHeavy(source));
    }

    /** Whether {@link #isTooMuch} may return true. */
    boolean isAlmostGone() {
        return used.get() >= full;
    }

    /** Counts received bytes. */
    public void take(long bytes) {
        long now = used.addAndGet(bytes);
        if (!spent && (now >= high || direct.getAsLong() >= directHigh)) {
            spent = true;
        }
    }

    /** Subtracts bytes that are no longer held. */
    public void give(long bytes) {
        used.addAndGet(-bytes);
    }

    /** Runs {@code goOn} on {@code loop}, once, when the share has room again. */
    void whenFree(MemoryShare share, SourceAddress source, EventLoop loop, Runnable goOn) {
        waiting.add(new Waiting(share, source, loop, goOn));
    }

    /** The accounts of source addresses, for exchanges that hold enough to matter. */
    Quota<SourceAddress> sources() {
        return sources;
    }

    /**
     * Records that a source needs memory when there is none. Sources that hold more than it does lose
     * exchanges.
     */
    void asks(SourceAddress source) {
        if (spent && asking.size() < MAX_ASKING) {
            asking.add(source);
        }
    }

    /** Registers a share that has readers. */
    void reads(MemoryShare share) {
        if (!reading.contains(share)) {
            reading.add(share);
        }
    }

    /** Registers an upstream that lags. */
    void lags(Lag side, MemoryShare share) {
        lagging.put(side, share);
    }

    void lagsNoLonger(Lag side) {
        lagging.remove(side);
    }

    /**
     * Resumes waiting exchanges for which there is room. If there is none, cuts the slowest sides; and
     * sources that hold more than others that ask for memory lose exchanges, the newest first. Call it at
     * least ten times a second.
     */
    public void tick() {
        tick(System.nanoTime());
    }

    void tick(long now) {
        if (spent && used.get() <= low && direct.getAsLong() <= directLow) {
            spent = false;
        } else if (!spent && direct.getAsLong() >= directHigh) {
            spent = true;
        }
        shedSlowReaders(now);
        cutSlowest(now);
        if (spent) {
            shedHeaviest();
        } else {
            asking.clear();
            letGoOn();
        }
    }

    /**
     * Lets slow readers give way while half of a runtime's share is taken; and while half of what all may
     * take is, those of the runtime that holds most.
     */
    private void shedSlowReaders(long now) {
        MemoryShare heaviest = null;
        for (MemoryShare share : reading.toArray(new MemoryShare[0])) {
            if (share.readers().isEmpty()) {
                reading.remove(share);
                if (share.readers().isEmpty()) {
                    continue;
                }
                reading.add(share); // a reader has come meanwhile
            }
            share.shedSlow(now);
            if (heaviest == null || share.used() > heaviest.used()) {
                heaviest = share;
            }
        }
        if (heaviest != null) {
            heaviest.shedSlow(used.get() - high / 2, now);
        }
    }

    private void shedHeaviest() {
        waiting.stream().limit(MAX_ASKING).map(Waiting::source).forEach(asking::add);
        long excess = used.get() - low;
        long directExcess = direct.getAsLong() - directLow;
        for (SourceAddress source : asking) {
            if (excess > 0) {
                sources.shedHeavierThan(source, excess);
            } else {
                sources.shedHeavierThan(source, high / LIGHT_PART, directExcess);
            }
        }
        asking.clear();
    }

    private void letGoOn() {
        long room = high - used.get();
        List<Waiting> later = new ArrayList<>();
        for (Waiting next = waiting.poll(); next != null; next = waiting.poll()) {
            if (room < STEP || next.share.isFull()) {
                later.add(next);
            } else {
                room -= STEP;
                next.loop.execute(next.goOn);
            }
            if (room < STEP) {
                break;
            }
        }
        waiting.addAll(later);
    }

    /**
     * Cuts the slowest sides while the memory of the process, or of a runtime, is short. Cuts as many as hold
     * the excess over half of the budget, or of the runtime's share.
     */
    private void cutSlowest(long now) {
        Map<Object, Long> excess = new HashMap<>();
        lagging.entrySet()
                .stream()
                .filter(side -> side.getValue().isSpent() && side.getKey().isSlow(now))
                .sorted(Comparator.comparingLong(side -> -side.getKey().slowNanos(now)))
                .forEach(side -> {
                    MemoryShare share = side.getValue();
                    Object account = spent ? this : share;
                    long tooMuch = excess.computeIfAbsent(account,
                            any -> spent ? used.get() - high / 2 : share.aboveHalf());
                    if (tooMuch > 0) {
                        excess.put(account, tooMuch - side.getKey().waiting());
                        side.getKey().cutIfSlow(now);
                    }
                });
    }
}
