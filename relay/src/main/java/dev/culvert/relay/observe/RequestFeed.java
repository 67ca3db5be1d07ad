package dev.culvert.relay.observe;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Scheduler;

/**
 * Sends requests to viewers as they end, in batches of at most {@link #MAX_BATCH}, at most four a second.
 * What exceeds that is counted, not queued: a viewer that does not read costs nothing, and continues where it
 * was as far as the log reaches. Each request is rendered once for all viewers. Safe for use by any thread.
 */
public final class RequestFeed<T> {
    /** The maximum number of viewers of a feed. */
    public static final int MAX_VIEWERS = 32;
    /** The maximum length of a batch: 200 requests a second. */
    public static final int MAX_BATCH = 50;
    static final Duration PERIOD = Duration.ofMillis(250);

    private final RequestLog log;
    private final Scheduler scheduler;
    private final Function<RequestRecord, T> render;
    private final Set<Viewer> viewers = new HashSet<>();
    private final AtomicLong rendered = new AtomicLong();
    private @Nullable Disposable running;
    private boolean ended;

    RequestFeed(RequestLog log, Scheduler scheduler, Function<RequestRecord, T> render) {
        this.log = log;
        this.scheduler = scheduler;
        this.render = render;
    }

    /**
     * Requests that a viewer receives at once, oldest first.
     *
     * @param leftOut the number of requests that were left out before them: those that match, and those that
     *     the log lost before it could tell
     */
    public record Batch<T>(List<Item<T>> items, long leftOut) {}

    /**
     * A request.
     *
     * @param id the id of its record
     */
    public record Item<T>(String id, T rendered) {}

    /**
     * The requests that match, from the subscription on, until {@link #end}. Cancelling stops watching.
     * Errors: {@link IllegalStateException} when {@link #MAX_VIEWERS} watch already.
     *
     * @param after the id of the last request that the viewer has seen; null: none
     */
    public Flux<Batch<T>> watch(RequestFilter filter, @Nullable String after) {
        return Flux.create(sink -> {
            var viewer = new Viewer(sink, filter, after == null ? -1 : KeptRequest.number(after));
            if (!add(viewer)) {
                sink.error(new IllegalStateException(MAX_VIEWERS + " viewers watch already"));
                return;
            }
            sink.onDispose(() -> remove(viewer));
        }, FluxSink.OverflowStrategy.IGNORE);
    }

    /** Whether another viewer would be refused now. */
    public boolean isFull() {
        synchronized (viewers) {
            return viewers.size() >= MAX_VIEWERS;
        }
    }

    public int viewers() {
        synchronized (viewers) {
            return viewers.size();
        }
    }

    /** The number of requests that were rendered. */
    public long rendered() {
        return rendered.get();
    }

    /** Ends all streams. */
    public void end() {
        List<Viewer> all;
        synchronized (viewers) {
            ended = true;
            all = List.copyOf(viewers);
        }
        all.forEach(viewer -> viewer.sink.complete());
    }

    private boolean add(Viewer viewer) {
        synchronized (viewers) {
            if (viewers.size() >= MAX_VIEWERS || ended) {
                return ended && complete(viewer);
            }
            viewer.begin(log);
            viewers.add(viewer);
            if (running == null) {
                running = scheduler.schedulePeriodically(this::send, PERIOD.toMillis(), PERIOD.toMillis(),
                        TimeUnit.MILLISECONDS);
            }
            return true;
        }
    }

    private boolean complete(Viewer viewer) {
        viewer.sink.complete();
        return true;
    }

    private void remove(Viewer viewer) {
        synchronized (viewers) {
            if (viewers.remove(viewer)) {
                viewer.holding.dispose();
            }
            if (viewers.isEmpty() && running != null) {
                running.dispose();
                running = null;
            }
        }
    }

    /** Sends to each viewer that reads what it has not seen. */
    private void send() {
        List<Viewer> ready = new ArrayList<>();
        synchronized (viewers) {
            for (Viewer viewer : viewers) {
                if (viewer.sink.requestedFromDownstream() > 0) {
                    ready.add(viewer);
                }
            }
        }
        long oldest = ready.stream().mapToLong(viewer -> viewer.seen).min().orElse(Long.MAX_VALUE);
        List<KeptRequest> requests = oldest == Long.MAX_VALUE ? List.of() : log.since(oldest);
        if (!requests.isEmpty()) {
            Map<Long, Item<T>> items = new HashMap<>();
            ready.forEach(viewer -> viewer.send(requests, items));
        }
    }

    private Item<T> render(KeptRequest request) {
        rendered.incrementAndGet();
        return new Item<>(request.id(), render.apply(request.toRecord()));
    }

    /** One viewer. Only one thread sends to it. */
    private final class Viewer {
        private final FluxSink<Batch<T>> sink;
        private final RequestFilter filter;
        private Disposable holding = Disposables.disposed();
        private volatile long seen;

        Viewer(FluxSink<Batch<T>> sink, RequestFilter filter, long seen) {
            this.sink = sink;
            this.filter = filter;
            this.seen = seen;
        }

        void begin(RequestLog requests) {
            holding = requests.hold();
            long last = requests.last();
            seen = seen < 0 ? last : Math.clamp(seen, requests.before(), last);
        }

        /** @param requests at least those that the viewer has not seen, oldest first */
        void send(List<KeptRequest> requests, Map<Long, Item<T>> rendered) {
            long before = seen;
            long newest = requests.getLast().number();
            if (newest <= before) {
                return;
            }
            List<KeptRequest> matching = new ArrayList<>();
            long unknown = Math.max(0, requests.getFirst().number() - before - 1);
            for (KeptRequest each : requests) {
                if (each.number() > before && filter.matches(each.request())) {
                    matching.add(each);
                }
            }
            seen = newest;
            int first = Math.max(0, matching.size() - MAX_BATCH);
            List<Item<T>> items = matching.subList(first, matching.size())
                    .stream()
                    .map(each -> rendered.computeIfAbsent(each.number(), any -> render(each)))
                    .toList();
            if (first + unknown > 0 || !items.isEmpty()) {
                sink.next(new Batch<>(items, first + unknown));
            }
        }
    }
}
