package dev.culvert.relay.quota;

import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import io.micrometer.core.instrument.Gauge;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.channel.EventLoop;
import io.netty.util.internal.PlatformDependent;
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
 * The bytes that callers' bodies may take up in this process, so that it never dies of memory.
 *
 * <pre>
 *  3/5    has been spent, and now those that wait go on, no more of them at once than there is room for
 *  4/5    is spent: new requests are refused, and those that run stop reading, but for sources that hold next to nothing
 *  9/10   ends exchanges that bring more, of runtimes that hold all they may, and of sources that hold more than that
 *  19/20  is spent for all
 *  all    ends whatever brings more
 * </pre>
 *
 * The last fifth is for what windows granted before, and for sources that hold next to nothing: what others have filled stops
 * them no sooner than that is gone, too. Safe for use by any thread.
 *
 * <p>Bytes are counted from the socket to the socket, with what their parts and heads cost (see {@link BudgetedBytes}). What
 * buffers cost beyond that is not, so a second bound watches what the allocator took from the system: at seven eighths of the direct memory the budget counts as spent, too.
 */
public final class MemoryBudget {
    /** What one exchange that goes on may read before it is asked again. */
    private static final int STEP = 64 << 10;
    /** Sources looked at in one tick; those that ask again are looked at later. */
    private static final int MAX_ASKING = 64;
    /** A source that holds less than this part of the budget may use the reserve. */
    private static final int LIGHT_PART = 64;
    /** Those who wait for memory go on so soon after there is some. */
    private static final Duration TICK = Duration.ofMillis(50);

    private final long max;
    /** From here on it is spent. */
    private final long high;
    private final long low;
    /** From here on exchanges that hold more than next to nothing end when they bring more. */
    private final long full;
    /** From here on nobody's exchanges begin, and none is read. */
    private final long gone;
    private final LongSupplier direct;
    private final long directHigh;
    private final long directLow;
    private final AtomicLong used = new AtomicLong();
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private final Map<Lag, MemoryShare> lagging = new ConcurrentHashMap<>();
    private final Quota<SourceAddress> sources;
    /** Sources that asked for memory of late while there was none. */
    private final Set<SourceAddress> asking = ConcurrentHashMap.newKeySet();
    private volatile boolean spent;

    /** Somebody who goes on when there is room. */
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
     * A budget of this process.
     *
     * @param max bytes; 0: a quarter of the direct memory: what sockets and TLS hold beside it counts nowhere
     */
    public static MemoryBudget ofProcess(long max) {
        long directMax = PlatformDependent.maxDirectMemory();
        LongSupplier direct = ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider allocator
                ? allocator.metric()::usedDirectMemory
                : () -> 0;
        return new MemoryBudget(max == 0 ? directMax / 4 : max, direct, directMax);
    }

    /** The same, shown as {@code culvert_memory_budget_bytes}. */
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

    /** Looks after those who wait, until disposed. */
    public Disposable ticking() {
        return Schedulers.parallel()
                .schedulePeriodically(this::tick, TICK.toMillis(), TICK.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** The bytes that may be held. */
    public long max() {
        return max;
    }

    /** The bytes from which on it is spent. */
    long high() {
        return high;
    }

    /** The bytes held now. */
    public long used() {
        return used.get();
    }

    /** Whether nothing more may begin, but for sources that hold next to nothing. */
    public boolean isSpent() {
        return spent;
    }

    /** Whether nothing more of this source may begin, and what runs should read nothing. */
    boolean isSpentFor(SourceAddress source) {
        return spent && (used.get() >= gone || direct.getAsLong() >= directHigh || isHeavy(source));
    }

    private boolean isHeavy(SourceAddress source) {
        return sources.usedBy(source) >= high / LIGHT_PART;
    }

    /** Whether an exchange has to end that has just brought more, though it was granted before there was no room. */
    boolean isTooMuch(MemoryShare share, SourceAddress source) {
        long now = used.get();
        return now > max || now >= full && (share.isFull() || isHeavy(source));
    }

    /** Whether {@link #isTooMuch} may say so. */
    boolean isAlmostGone() {
        return used.get() >= full;
    }

    /** Bytes came. */
    public void take(long bytes) {
        long now = used.addAndGet(bytes);
        if (!spent && (now >= high || direct.getAsLong() >= directHigh)) {
            spent = true;
        }
    }

    /** Bytes are gone. */
    public void give(long bytes) {
        used.addAndGet(-bytes);
    }

    /** Runs {@code goOn} on {@code loop}, once, when there is room again for the share. */
    void whenFree(MemoryShare share, SourceAddress source, EventLoop loop, Runnable goOn) {
        waiting.add(new Waiting(share, source, loop, goOn));
    }

    /** The accounts of callers, for exchanges that hold enough to matter. */
    Quota<SourceAddress> sources() {
        return sources;
    }

    /** A source needs memory while there is none: those that hold more than it does give way. */
    void asks(SourceAddress source) {
        if (spent && asking.size() < MAX_ASKING) {
            asking.add(source);
        }
    }

    /** One side of an exchange lags. */
    void lags(Lag side, MemoryShare share) {
        lagging.put(side, share);
    }

    void lagsNoLonger(Lag side) {
        lagging.remove(side);
    }

    /**
     * To be called some ten times a second: lets those go on for whom there is room. If there is none, the slowest are cut,
     * and sources that hold more than others that ask for memory give way, each with its newest exchange first.
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
        cutSlowest(now);
        if (spent) {
            shedHeaviest();
        } else {
            asking.clear();
            letGoOn();
        }
    }

    private void shedHeaviest() {
        waiting.stream().limit(MAX_ASKING).map(Waiting::source).forEach(asking::add);
        long excess = used.get() - low;
        for (SourceAddress source : asking) {
            sources.shedHeavierThan(source, excess);
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
     * Where memory is short, of the process or of a runtime: those who have been too slow for the longest, as many as hold what
     * is more than half of the budget, or of the runtime's share.
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
