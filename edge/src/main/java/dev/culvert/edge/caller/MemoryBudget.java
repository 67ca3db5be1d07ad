package dev.culvert.edge.caller;

import dev.culvert.edge.Telemetry;
import io.micrometer.core.instrument.Gauge;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.channel.EventLoop;
import io.netty.util.internal.PlatformDependent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
 * The bytes that callers' bodies may take up in this process, so that it never dies of memory. When it is spent, new
 * requests are refused, and those that run stop reading; when it has fallen to three quarters, they go on, no more of them
 * at once than there is room for. Safe for use by any thread.
 *
 * <p>Bytes are counted from the socket to the socket. What buffers cost beyond their bytes is not, so a second bound watches
 * what the allocator took from the system: at seven eighths of the direct memory the budget counts as spent, too.
 */
public final class MemoryBudget {
    /** What one exchange that goes on may read before it is asked again. */
    private static final int STEP = 64 << 10;
    /** Those who wait for memory go on so soon after there is some. */
    private static final Duration TICK = Duration.ofMillis(50);

    private final long max;
    private final long low;
    private final LongSupplier direct;
    private final long directHigh;
    private final long directLow;
    private final AtomicLong used = new AtomicLong();
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private final Set<ResponseBody> unread = ConcurrentHashMap.newKeySet();
    private volatile boolean spent;

    /** Somebody who goes on when there is room. */
    private record Waiting(MemoryShare share, EventLoop loop, Runnable goOn) {}

    MemoryBudget(long max, LongSupplier direct, long directMax) {
        this.max = max;
        this.low = max - max / 4;
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

    /** The bytes held now. */
    public long used() {
        return used.get();
    }

    /** Whether nothing more may begin. */
    public boolean isSpent() {
        return spent;
    }

    /** Bytes came. */
    public void take(long bytes) {
        long now = used.addAndGet(bytes);
        if (!spent && (now >= max || direct.getAsLong() >= directHigh)) {
            spent = true;
        }
    }

    /** Bytes are gone. */
    public void give(long bytes) {
        used.addAndGet(-bytes);
    }

    /** Runs {@code goOn} on {@code loop}, once, when there is room again for the share. */
    void whenFree(MemoryShare share, EventLoop loop, Runnable goOn) {
        waiting.add(new Waiting(share, loop, goOn));
    }

    /** A response whose caller lags. */
    void lags(ResponseBody body) {
        unread.add(body);
    }

    void lagsNoLonger(ResponseBody body) {
        unread.remove(body);
    }

    /** To be called some ten times a second: lets those go on for whom there is room, cuts the slowest readers if there is none. */
    public void tick() {
        if (spent && used.get() <= low && direct.getAsLong() <= directLow) {
            spent = false;
        } else if (!spent && direct.getAsLong() >= directHigh) {
            spent = true;
        }
        if (spent) {
            cutSlowest();
        } else {
            letGoOn();
        }
    }

    private void letGoOn() {
        long room = max - used.get();
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

    /** Those who have taken nothing for the longest, as many as hold what is too much. */
    private void cutSlowest() {
        long excess = used.get() - low;
        long now = System.nanoTime();
        List<ResponseBody> stalled = unread.stream()
                .filter(body -> body.stalledNanos(now) >= ResponseBody.STALLED.toNanos())
                .sorted(Comparator.comparingLong((ResponseBody body) -> body.stalledNanos(now))
                        .reversed())
                .toList();
        for (ResponseBody body : stalled) {
            if (excess <= 0) {
                return;
            }
            excess -= body.unreadBytes();
            body.loop().execute(body::cutIfStalled);
        }
    }
}
