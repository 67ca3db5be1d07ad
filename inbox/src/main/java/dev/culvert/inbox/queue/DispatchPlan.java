package dev.culvert.inbox.queue;

import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.SourceKey;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides which webhook is sent next. Pure state: no IO, no clock. A free slot goes to the runtime with the
 * fewest attempts in progress, and within it to its sources in turn. An ordered source sends its webhooks in
 * order, one at a time. A quarter of the slots is reserved for runtimes without an attempt, and a quarter of
 * a runtime's for sources that are known to be fast. Belongs to the dispatcher's thread, except
 * {@link #isIdle}. One class, because each event changes a source, its runtime and the turns of all together.
 *
 * <pre>
 *  on disk ──load──► in line ──take──► under way ──left──► gone
 *                       ▲                  │
 *                       └──put back────────┤ failed: in line, or aside
 *                                          └ refused, away: in line, nothing is counted
 * </pre>
 */
public final class DispatchPlan {
    /**
     * The interval of attempts after a refused connection: each second, and each 5 s if refusals continue.
     */
    private static final long PROBE = 1000;
    private static final long SLOW_PROBE = 5000;
    private static final int MANY_REFUSALS = 30;

    private final int maxFlying;
    /** The number of attempts above which only runtimes without one get another. */
    private final int maxFlyingInCommon;
    private final int maxFlyingPerRuntime;
    /** The maximum attempts of a runtime at sources that are not known to be fast. */
    private final int maxUnproven;
    private final Map<String, RuntimeQueue> runtimes = new HashMap<>();
    private final RuntimeTurns turns;
    private final QuickSources quick = new QuickSources();
    private final PriorityQueue<Wake> wakes = new PriorityQueue<>(Comparator.comparingLong(Wake::at));
    private final Queue<Load> loads = new ArrayDeque<>();
    private final Map<Long, QueuedWebhook> flying = new HashMap<>();
    private final Set<String> busy = ConcurrentHashMap.newKeySet();
    private Set<String> paused = Set.of();
    private long latest;

    private record Wake(long at, SourceQueue source) {}

    /**
     * A request to read rows.
     *
     * @param inLine whether to read the rows in line; if not, those that stand aside
     */
    public record Load(SourceQueue source, boolean inLine) {}

    public DispatchPlan(int maxFlying) {
        this.maxFlying = maxFlying;
        this.maxFlyingInCommon = maxFlying - maxFlying / 4;
        this.maxFlyingPerRuntime = Math.max(1, maxFlying / 4);
        this.maxUnproven = maxFlyingPerRuntime - maxFlyingPerRuntime / 4;
        this.turns = new RuntimeTurns(maxFlyingPerRuntime);
    }

    /** Whether a source has no webhook to deliver, approximately. Any thread. */
    public boolean isIdle(String runtime, String source) {
        return !busy.contains(name(runtime, source));
    }

    /** Returns whether the clock was set back since the last call. If so, it adapts all times. */
    public boolean isSetBack(long now) {
        boolean back = now < latest - PROBE;
        latest = now;
        if (back) {
            wakes.clear();
            for (RuntimeQueue runtime : runtimes.values()) {
                runtime.sources.values().forEach(source -> {
                    source.setBack(now);
                    enqueue(source);
                });
            }
        }
        return back;
    }

    /** Adds a source with webhooks on disk. */
    public void found(SourceKey key) {
        SourceQueue source = source(key);
        source.foundInLine();
        source.foundAside();
        enqueue(source);
    }

    /** Adds a stored webhook. Returns false if it stays on disk until its turn. */
    public boolean stored(QueuedWebhook webhook) {
        SourceQueue source = source(new SourceKey(webhook.runtime, webhook.source, webhook.ordered));
        boolean added = source.add(webhook);
        enqueue(source);
        return added;
    }

    /** Returns the next rows to read, once; null: none. */
    public @Nullable Load pollLoad() {
        return loads.poll();
    }

    public void loaded(Load load, List<QueuedWebhook> rows) {
        if (load.inLine) {
            load.source.loadedLine(rows);
        } else {
            boolean complete = rows.size() < load.source.asideLimit();
            load.source.loadedAside(rows.stream().filter(row -> !flying.containsKey(row.seq)).toList(),
                    complete);
        }
        enqueue(load.source);
    }

    public void loadFailed(Load load, long again) {
        load.source.loadFailed(load.inLine);
        wakeAt(load.source, again);
    }

    /**
     * Returns the webhook to send now and counts it as in progress; null: none. Calls {@code reachable} with
     * its runtime.
     */
    public @Nullable QueuedWebhook next(long now, Predicate<String> reachable) {
        for (Wake wake = wakes.peek(); wake != null && wake.at <= now; wake = wakes.peek()) {
            wakes.remove();
            if (wake.source.wakeAt == wake.at) {
                wake.source.wakeAt = Long.MAX_VALUE;
                enqueue(wake.source);
            }
        }
        while (flying.size() < maxFlying) {
            RuntimeQueue runtime = turns
                    .poll(flying.size() < maxFlyingInCommon ? maxFlyingPerRuntime : 1);
            if (runtime == null) {
                break;
            }
            if (!runtime.away && !reachable.test(runtime.id)) {
                runtime.away = true;
                acceptAll(runtime);
            }
            QueuedWebhook next = runtime.away ? null : next(runtime, now);
            if (next != null) {
                enqueue(runtime);
                return next;
            }
        }
        return null;
    }

    private @Nullable QueuedWebhook next(RuntimeQueue runtime, long now) {
        while (!runtime.turn.isEmpty()) {
            SourceQueue source = runtime.turn.remove();
            boolean unproven = !quick.contains(name(runtime.id, source.key));
            if (unproven && runtime.unprovenFlying >= maxUnproven) {
                runtime.unproven.add(source);
                continue;
            }
            source.queued = false;
            QueuedWebhook next = source.take(now);
            wantLoads(source);
            if (next != null) {
                flying.put(next.seq, next);
                runtime.flying++;
                next.unproven = unproven;
                runtime.unprovenFlying += unproven ? 1 : 0;
                enqueue(source);
                return next;
            }
            rest(source);
        }
        return null;
    }

    /**
     * Returns the next webhook of an ordered source's queue, if it can be sent at once after {@code webhook}.
     */
    public @Nullable QueuedWebhook follower(QueuedWebhook webhook, long now) {
        SourceQueue source = queueOf(webhook);
        QueuedWebhook next = source == null || !source.ordered || source.paused || webhook.probing
                ? null
                : source.follower();
        return next == null || !next.isDue(now) ? null : next;
    }

    /** Returns the webhooks that leave the order once {@code webhook} has its final response. */
    public List<QueuedWebhook> outOfOrder(QueuedWebhook webhook) {
        SourceQueue source = queueOf(webhook);
        return source == null ? List.of() : source.outOfOrder(webhook);
    }

    /**
     * A webhook in progress has its final response, and {@code outOfOrder} leave the order. Both are on disk.
     */
    public void passed(QueuedWebhook webhook, long now, List<QueuedWebhook> outOfOrder) {
        SourceQueue source = queueOf(webhook);
        if (source != null) {
            source.passed(webhook, now, outOfOrder);
        }
    }

    /** An attempt failed. */
    public void failed(QueuedWebhook webhook, long now, @Nullable Duration asked) {
        SourceQueue source = queueOf(webhook);
        if (source != null) {
            source.answered();
            source.failed(webhook, now, asked);
        }
    }

    /** Records the duration of an attempt that reached its event source, or may have. */
    public void took(QueuedWebhook webhook, long millis) {
        quick.took(name(webhook.runtime, webhook.source), millis);
    }

    /** The webhook is delivered, dead or deleted. */
    public void ended(QueuedWebhook webhook) {
        land(webhook, source -> source.leave(webhook.aside));
    }

    /** The webhook is tried again at its time, and possibly stands aside from now on. */
    public void retried(QueuedWebhook webhook, boolean wasAside) {
        land(webhook, source -> {
            source.answered();
            source.putBack(webhook, wasAside);
        });
    }

    /** The webhook's source accepts nothing now. It is tried again soon, with one webhook at a time. */
    public void refused(QueuedWebhook webhook, long now) {
        land(webhook, source -> {
            source.refused(now);
            askAgain(source, webhook, now);
        });
    }

    /** Records whether the source's name resolves in the cluster, as a refused attempt found. */
    public void resolved(QueuedWebhook webhook, boolean named, long now) {
        SourceQueue source = queueOf(webhook);
        if (source != null) {
            source.resolved(named, now);
        }
    }

    /**
     * The cluster's policy refuses the webhook. Its source is tried again like one that refuses connections.
     */
    public void forbidden(QueuedWebhook webhook, long now) {
        land(webhook, source -> {
            source.forbidden(now);
            askAgain(source, webhook, now);
        });
    }

    private static void askAgain(SourceQueue source, QueuedWebhook webhook, long now) {
        source.gate(now + (source.refusals < MANY_REFUSALS ? PROBE : SLOW_PROBE));
        source.putBack(webhook, webhook.aside);
    }

    /** Whether the cluster's policy has refused the source for so long that the webhook is given up. */
    public boolean isForbiddenForGood(QueuedWebhook webhook, long now) {
        SourceQueue source = queueOf(webhook);
        return source != null && source.isForbiddenForGood(webhook, now);
    }

    /** Whether the source has refused for so long that the webhook is given up. */
    public boolean isGivenUp(QueuedWebhook webhook, long now) {
        SourceQueue source = queueOf(webhook);
        return source != null && source.isGivenUp(webhook, now);
    }

    /** The webhook's runtime is not connected. */
    public void away(QueuedWebhook webhook) {
        land(webhook, source -> {
            source.runtime.away = true;
            source.putBack(webhook, webhook.aside);
            acceptAll(source.runtime);
        });
    }

    /** The event source responded, with any status. */
    public void answered(QueuedWebhook webhook) {
        SourceQueue source = queueOf(webhook);
        if (source != null) {
            source.answered();
        }
    }

    private void land(QueuedWebhook webhook, Consumer<SourceQueue> how) {
        SourceQueue source = queueOf(webhook);
        if (flying.remove(webhook.seq) != null && source != null) {
            RuntimeQueue runtime = source.runtime;
            turns.remove(runtime);
            runtime.flying--;
            if (webhook.unproven) {
                runtime.unprovenFlying--;
                SourceQueue waiting = runtime.unproven.poll();
                if (waiting != null) {
                    runtime.turn.add(waiting);
                }
            }
            how.accept(source);
            enqueue(source);
        }
    }

    /** A runtime's tunnel is connected again: its webhooks no longer wait for it. */
    public void reachable(String runtimeId) {
        RuntimeQueue runtime = runtimes.get(runtimeId);
        if (runtime != null) {
            boolean returned = runtime.away;
            runtime.away = false;
            runtime.sources.values().forEach(source -> {
                if (returned) {
                    source.forgiveRefusals();
                }
                source.gate(0);
                enqueue(source);
            });
        }
    }

    /** The runtimes whose webhooks wait for them. */
    public List<String> awaited() {
        return runtimes.values().stream().filter(runtime -> runtime.away).map(runtime -> runtime.id).toList();
    }

    /** Replaces the paused sources, given by {@link #name}. */
    public void pause(Set<String> names) {
        if (names.equals(paused)) {
            return;
        }
        paused = Set.copyOf(names);
        for (RuntimeQueue runtime : runtimes.values()) {
            for (SourceQueue source : new ArrayList<>(runtime.sources.values())) {
                source.paused = paused.contains(name(runtime.id, source.key));
                enqueue(source);
            }
        }
    }

    /** Whether a stored webhook will be sent soon, so that its caller may wait. */
    public boolean isFlowing(QueuedWebhook webhook, long now) {
        SourceQueue source = queueOf(webhook);
        if (source == null || source.runtime.away || source.isHeldBack(now) || source.refusals > 0) {
            return false;
        }
        QueuedWebhook first = source.follower();
        return first == null || first.isDue(now) || source.isProbing(now);
    }

    /** Returns the webhook with this number that is in progress; null: none. */
    public @Nullable QueuedWebhook underWay(long seq) {
        return flying.get(seq);
    }

    /** A webhook that is not in progress was deleted. */
    public void deleted(SourceKey key, long seq) {
        RuntimeQueue runtime = runtimes.get(key.runtime());
        SourceQueue source = runtime == null ? null : runtime.sources.get(key.source());
        if (source == null) {
            return;
        }
        QueuedWebhook gone = source.remove(seq);
        if (gone != null) {
            gone.accept();
            gone.drop();
        }
        enqueue(source); // it may have delayed the next ones
    }

    /** No more attempts begin: answers the callers that wait for webhooks not in progress. */
    public void awaitNothing() {
        runtimes.values().forEach(DispatchPlan::acceptAll);
    }

    public Collection<QueuedWebhook> flying() {
        return flying.values();
    }

    /**
     * Returns the time at which to call {@link #next} again, if no event occurs; {@link Long#MAX_VALUE}:
     * never.
     */
    public long nextAt() {
        Wake first = wakes.peek();
        return first == null ? Long.MAX_VALUE : first.at;
    }

    /** Removes everything. Undelivered webhooks are on disk. */
    public void clear() {
        runtimes.values().forEach(runtime -> runtime.sources.values().forEach(SourceQueue::dropAll));
        runtimes.clear();
        turns.clear();
        wakes.clear();
        loads.clear();
        flying.clear();
        busy.clear();
    }

    public static String name(String runtime, String source) {
        return runtime + '\n' + source;
    }

    private SourceQueue source(SourceKey key) {
        RuntimeQueue runtime = runtimes.computeIfAbsent(key.runtime(), RuntimeQueue::new);
        return runtime.sources.computeIfAbsent(key.source(), name -> {
            var source = new SourceQueue(runtime, name, key.ordered());
            source.paused = paused.contains(name(runtime.id, name));
            busy.add(name(runtime.id, name));
            return source;
        });
    }

    private @Nullable SourceQueue queueOf(QueuedWebhook webhook) {
        RuntimeQueue runtime = runtimes.get(webhook.runtime);
        return runtime == null ? null : runtime.sources.get(webhook.source);
    }

    private void enqueue(SourceQueue source) {
        if (!source.queued) {
            source.queued = true;
            source.runtime.turn.add(source);
        }
        enqueue(source.runtime);
    }

    private void enqueue(RuntimeQueue runtime) {
        if (!runtime.queued && !runtime.away && !runtime.turn.isEmpty()) {
            turns.add(runtime);
        }
    }

    private void wantLoads(SourceQueue source) {
        if (source.wantsLine()) {
            loads.add(new Load(source, true));
        }
        if (source.wantsAside()) {
            loads.add(new Load(source, false));
        }
    }

    /** The source has nothing to send now: schedules its next time, or removes it. */
    private void rest(SourceQueue source) {
        if (source.isIdle()) {
            forget(source);
            return;
        }
        long at = source.nextAt();
        if (at != Long.MAX_VALUE) {
            wakeAt(source, at);
        }
    }

    private void forget(SourceQueue source) {
        source.wakeAt = Long.MAX_VALUE; // a later source with this key is another object
        RuntimeQueue runtime = source.runtime;
        if (runtime.sources.remove(source.key, source)) {
            busy.remove(name(runtime.id, source.key));
            if (runtime.sources.isEmpty()) {
                runtimes.remove(runtime.id, runtime);
            }
        }
    }

    private void wakeAt(SourceQueue source, long at) {
        if (at < source.wakeAt) {
            source.wakeAt = at;
            wakes.add(new Wake(at, source));
        }
    }

    /** Answers the callers that wait for a response of this runtime: none will come soon. */
    private static void acceptAll(RuntimeQueue runtime) {
        runtime.sources.values().forEach(SourceQueue::acceptAll);
    }
}
