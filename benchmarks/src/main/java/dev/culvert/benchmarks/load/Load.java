package dev.culvert.benchmarks.load;

import dev.culvert.benchmarks.result.Latency;
import dev.culvert.benchmarks.result.LoadFigures;
import dev.culvert.http.net.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The callers of one load, and what they notice. All methods but {@link #start}, {@link #begin}, {@link #end}
 * and {@link #close} belong to the event loop.
 */
final class Load {
    private static final long LONGEST_NANOS = Duration.ofMinutes(10).toNanos();
    /** The time that exchanges of an open loop have after the measured time. */
    private static final Duration GRACE = Duration.ofSeconds(10);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(10);
    private static final int MAX_REASONS = 20;

    final LoadPlan plan;
    final EventLoop loop;
    private final Bootstrap bootstrap;
    private final ChannelGroup connections;
    private final Histogram latency = new Histogram(LONGEST_NANOS, 3);
    private final Map<String, Long> errors = new TreeMap<>();
    private List<Caller> callers = List.of();
    /** The callers of an open loop that have nothing to do. */
    private final ArrayDeque<Caller> free = new ArrayDeque<>();
    /** The intended starts of exchanges that no caller was free for. */
    private final ArrayDeque<Long> waiting = new ArrayDeque<>();
    private @Nullable CompletableFuture<LoadFigures> figures;
    private long firstArrival;
    private long arrivals;
    private long from = Long.MAX_VALUE;
    private long to = Long.MAX_VALUE;
    private long bytes;
    /** The exchanges of the measured time in an open loop that are not over. */
    private long due;
    private boolean closed;

    Load(LoadPlan plan, EventLoops loops) {
        this.plan = plan;
        this.loop = loops.group().next();
        this.connections = new DefaultChannelGroup(loop);
        this.bootstrap = new Bootstrap().group(loop).channel(loops.socketChannel());
    }

    void start() {
        loop.execute(() -> {
            callers = Callers.of(this);
            callers.forEach(this::next);
            if (plan.rate() > 0) {
                firstArrival = System.nanoTime();
                arrive();
            }
        });
    }

    /** Begins the measured time. */
    void begin() {
        loop.execute(() -> from = System.nanoTime());
    }

    /** Ends the measured time. The future completes when all that belongs to it is over. */
    CompletableFuture<LoadFigures> end() {
        var ended = new CompletableFuture<LoadFigures>();
        loop.execute(() -> {
            to = System.nanoTime();
            arriveBefore(to);
            figures = ended;
            countSilent();
            waiting.removeIf(intended -> !isMeasured(intended));
            loop.schedule(this::complete, GRACE.toNanos(), TimeUnit.NANOSECONDS);
            completeIfDone();
        });
        return ended;
    }

    /**
     * In a closed loop, an exchange that lasts for all of the measured time is a failure: else callers that
     * get no answer would not be noticed. In an open loop those are the arrivals that are not answered.
     */
    private void countSilent() {
        long silent = callers.stream().filter(caller -> caller.isSilentSince(from)).count();
        if (plan.rate() == 0 && silent > 0) {
            errors.merge(Caller.SILENT, silent, Long::sum);
        }
    }

    private void completeIfDone() {
        if (figures != null && (plan.rate() == 0 || due == 0)) {
            complete();
        }
    }

    private void complete() {
        if (figures == null || figures.isDone()) {
            return;
        }
        if (due > 0) {
            errors.merge("not answered within " + GRACE.toSeconds() + " s", due, Long::sum);
        }
        figures.complete(new LoadFigures(latency.getTotalCount(), errors, bytes, (to - from) / 1e9,
                Latency.of(latency)));
    }

    void close() {
        loop.execute(() -> {
            closed = true;
            connections.close();
        });
    }

    // ---- arrivals of an open loop ----

    private void arrive() {
        if (figures == null && !closed) {
            arriveBefore(System.nanoTime());
            loop.schedule(this::arrive, intended(arrivals) - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }

    /** Also those that a late loop has missed. */
    private void arriveBefore(long time) {
        while (plan.rate() > 0 && intended(arrivals) - time < 0) {
            arrived(intended(arrivals));
            arrivals++;
        }
    }

    private long intended(long number) {
        return firstArrival + (long) (number * 1e9 / plan.rate());
    }

    private void arrived(long intended) {
        if (isMeasured(intended)) {
            due++;
        }
        Caller caller = free.poll();
        if (caller == null) {
            waiting.add(intended);
        } else {
            caller.begin(intended);
        }
    }

    /** Whether an exchange of an open loop belongs to the measured time. */
    private boolean isMeasured(long intended) {
        return intended - from >= 0 && intended - to < 0;
    }

    // ---- for callers ----

    /** A caller is free. */
    void next(Caller caller) {
        if (closed || figures != null && waiting.isEmpty()) {
            return;
        }
        if (plan.rate() == 0) {
            caller.begin(System.nanoTime());
        } else if (waiting.isEmpty()) {
            free.add(caller);
        } else {
            caller.begin(waiting.remove());
        }
    }

    /** An exchange that began at a {@link System#nanoTime} value has succeeded. */
    void succeeded(long began) {
        long now = System.nanoTime();
        if (counts(began, now)) {
            latency.recordValue(Math.min(LONGEST_NANOS, Math.max(0, now - began)));
        }
        over(began);
    }

    void failed(long began, String reason) {
        if (counts(began, System.nanoTime())) {
            String known = errors.size() < MAX_REASONS || errors.containsKey(reason) ? reason : "others";
            errors.merge(known, 1L, Long::sum);
        }
        over(began);
    }

    /** In a closed loop, exchanges belong to the time in which they end. */
    private boolean counts(long began, long ended) {
        return plan.rate() == 0 ? ended - from >= 0 && ended - to < 0 : isMeasured(began);
    }

    private void over(long began) {
        if (plan.rate() > 0 && isMeasured(began)) {
            due--;
            completeIfDone();
        }
    }

    /** A caller has failed and is free: the next exchange begins a little later. */
    void nextAfterPause(Caller caller) {
        if (!closed) {
            loop.schedule(() -> next(caller), PAUSE_AFTER_FAILURE.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** Body bytes were sent or received. */
    void moved(int count) {
        long now = System.nanoTime();
        if (now - from >= 0 && now - to < 0) {
            bytes += count;
        }
    }

    boolean isClosed() {
        return closed;
    }

    Bootstrap bootstrap() {
        return bootstrap.clone();
    }

    /** The channel closes when the load ends. */
    void opened(Channel channel) {
        connections.add(channel);
    }
}
