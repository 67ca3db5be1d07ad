package dev.culvert.relay.observe;

import dev.culvert.http.problem.Problem;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Requests that have ended, for operators. Problems are always kept, in a small ring that is shared fairly.
 * All other requests are kept from the first look of an operator until {@link #KEEP} after the last one. At
 * other times the last {@link #LATEST} are kept, of which at most {@link #LATEST_PER_SECOND} end in one
 * second, so that many requests cost nothing more. Nothing survives the process. Safe for use by any thread.
 */
public final class RequestLog {
    /** The time for which requests are kept after the last look. */
    public static final Duration KEEP = Duration.ofMinutes(5);
    /** The number of requests that are kept while nobody looks. */
    public static final int LATEST = 200;
    /** The maximum number of those that end in one second. */
    public static final int LATEST_PER_SECOND = 50;
    private static final int LATEST_BYTES = 512 << 10;
    /** The maximum length of a page. */
    public static final int MAX_PAGE = 500;

    private final Clock clock;
    private final Scheduler scheduler;
    private final Object lock = new Object();
    private final ProblemRing problems = new ProblemRing();
    /** The last requests of the time in which nobody looked: older than those of {@link #recent}. */
    private final RecentRing latest;
    private final RequestTraffic traffic;
    private final AtomicInteger taken = new AtomicInteger();
    private volatile long takenSecond;
    private final List<RequestFeed<?>> feeds = new ArrayList<>();
    private long last;
    private int holders;
    private long keepUntil;
    private @Nullable RecentRing recent;
    private volatile boolean recording;

    /**
     * Creates a log. Its numbers exceed those of an earlier process, unless that one kept more than a
     * million requests a second.
     */
    public RequestLog(Clock clock) {
        this(clock, Schedulers.parallel());
    }

    /** @param scheduler ends the recording, and runs the feeds */
    RequestLog(Clock clock, Scheduler scheduler) {
        this.clock = clock;
        this.scheduler = scheduler;
        this.last = clock.millis() * 1000;
        this.latest = new RecentRing(clock.instant(), last, LATEST, LATEST_BYTES);
        this.traffic = new RequestTraffic(clock);
    }

    /** The counters of all requests, which need no look. */
    public RequestTraffic traffic() {
        return traffic;
    }

    /**
     * Whether a request with this problem, or without one, is kept now. Call it once for each request,
     * because it counts those of a second.
     */
    public boolean keeps(@Nullable Problem problem) {
        return problem != null || recording || isOneOfFew();
    }

    /** Of concurrent callers a few more may be let in when a second begins. */
    private boolean isOneOfFew() {
        long second = clock.millis() / 1000;
        if (second != takenSecond) {
            takenSecond = second;
            taken.set(0);
        }
        return taken.get() < LATEST_PER_SECOND && taken.incrementAndGet() <= LATEST_PER_SECOND;
    }

    /** Keeps a request, if {@link #keeps} says so. */
    public void add(EndedRequest request) {
        synchronized (lock) {
            RecentRing ring = recent;
            var kept = new KeptRequest(++last, request);
            (ring == null ? latest : ring).add(kept);
            if (request.problem() != null) {
                problems.add(kept);
            }
        }
    }

    /**
     * Looks at the requests that match, newest first. All requests are kept from now on, for {@link #KEEP}.
     *
     * @param before the id of the last request of the page before; null: from the newest one
     */
    public RequestPage page(RequestFilter filter, @Nullable String before, int limit) {
        long below = before == null ? Long.MAX_VALUE : KeptRequest.number(before);
        List<KeptRequest> ofProblems;
        List<KeptRequest> all;
        RecentRing ring;
        synchronized (lock) {
            ring = look();
            all = all(ring);
            ofProblems = problems.newestFirst();
        }
        List<KeptRequest> found = new ArrayList<>();
        var merged = new NewestFirst(all, ofProblems);
        for (KeptRequest each = merged.next(); each != null && found.size() <= limit; each = merged.next()) {
            if (each.number() < below && filter.matches(each.request())) {
                found.add(each);
            }
        }
        boolean more = found.size() > limit;
        List<KeptRequest> items = more ? found.subList(0, limit) : found;
        return new RequestPage(items.stream().map(KeptRequest::toRecord).toList(),
                more ? items.getLast().id() : null, ring.since().toString());
    }

    /** The id of the newest request, from which a viewer of a page continues. */
    public String position() {
        return Long.toString(last(), Character.MAX_RADIX);
    }

    /** Whether a viewer that has seen everything up to an id can continue from there. */
    public boolean reaches(String position) {
        long number = KeptRequest.number(position);
        synchronized (lock) {
            return recent != null && number >= recent.before() && number <= last;
        }
    }

    /** The newest problems of a runtime. This is no look: it does not keep other requests. */
    public List<RequestRecord> problems(String runtime, int limit) {
        RequestFilter filter = RequestFilter.problemsOf(runtime);
        List<KeptRequest> all;
        synchronized (lock) {
            all = problems.newestFirst();
        }
        return all.stream()
                .filter(kept -> filter.matches(kept.request()))
                .limit(limit)
                .map(KeptRequest::toRecord)
                .toList();
    }

    /** Finds a request by its id, or the newest one by its {@code X-Request-Id}; null: it is not kept. */
    public @Nullable RequestRecord find(String id) {
        long number = KeptRequest.number(id);
        List<KeptRequest> ofProblems;
        List<KeptRequest> all;
        synchronized (lock) {
            all = all(look());
            ofProblems = problems.newestFirst();
        }
        KeptRequest named = null;
        var merged = new NewestFirst(all, ofProblems);
        for (KeptRequest each = merged.next(); each != null; each = merged.next()) {
            if (each.number() == number) {
                return each.toRecord();
            }
            if (named == null && id.contentEquals(each.request().requestId())) {
                named = each;
            }
        }
        return named == null ? null : named.toRecord();
    }

    /**
     * Creates a feed for viewers.
     *
     * @param render converts a request; called once for each request that any viewer receives
     */
    public <T> RequestFeed<T> feed(Function<RequestRecord, T> render) {
        var feed = new RequestFeed<>(this, scheduler, render);
        synchronized (lock) {
            feeds.add(feed);
        }
        return feed;
    }

    /** Ends the streams of all viewers. */
    public void end() {
        List<RequestFeed<?>> all;
        synchronized (lock) {
            all = List.copyOf(feeds);
        }
        all.forEach(RequestFeed::end);
    }

    /** Whether all requests are kept now, not only problems. */
    public boolean isRecording() {
        return recording;
    }

    /** Keeps all requests until {@link #KEEP} after the disposal. */
    Disposable hold() {
        synchronized (lock) {
            look();
            holders++;
        }
        return Disposables.composite(() -> {
            synchronized (lock) {
                holders--;
                look();
            }
        });
    }

    /** The number of the newest request. */
    long last() {
        synchronized (lock) {
            return last;
        }
    }

    /** The number of the last request before those that are all kept. */
    long before() {
        synchronized (lock) {
            RecentRing ring = recent;
            return ring == null ? last : ring.before();
        }
    }

    /** The requests with a number above {@code after} that are kept, oldest first. */
    List<KeptRequest> since(long after) {
        synchronized (lock) {
            RecentRing ring = recent;
            return ring == null ? List.of() : ring.since(after);
        }
    }

    /** All requests of both rings, oldest first. Called with the lock. */
    private List<KeptRequest> all(RecentRing ring) {
        List<KeptRequest> all = latest.since(-1);
        all.addAll(ring.since(-1));
        return all;
    }

    /** Extends the recording. Called with the lock. */
    private RecentRing look() {
        keepUntil = clock.millis() + KEEP.toMillis();
        RecentRing ring = recent;
        if (ring == null) {
            ring = new RecentRing(clock.instant(), last, RecentRing.MAX_REQUESTS, RecentRing.MAX_BYTES);
            recent = ring;
            recording = true;
            var _ = scheduler.schedule(this::endRecording, KEEP.toMillis(), TimeUnit.MILLISECONDS);
        }
        return ring;
    }

    private void endRecording() {
        synchronized (lock) {
            long left = keepUntil - clock.millis();
            if (holders == 0 && left <= 0) {
                recording = false;
                since(-1).forEach(latest::add);
                recent = null;
            } else {
                var _ = scheduler.schedule(this::endRecording, holders > 0 ? KEEP.toMillis() : left,
                        TimeUnit.MILLISECONDS);
            }
        }
    }

    /** Merges both lists, without repetitions. */
    private static final class NewestFirst {
        private final List<KeptRequest> all;
        private final List<KeptRequest> problems;
        private int ofAll;
        private int ofProblems;

        /**
         * @param all oldest first
         * @param problems newest first
         */
        NewestFirst(List<KeptRequest> all, List<KeptRequest> problems) {
            this.all = all;
            this.problems = problems;
            this.ofAll = all.size() - 1;
        }

        @Nullable
        KeptRequest next() {
            KeptRequest one = ofAll < 0 ? null : all.get(ofAll);
            KeptRequest other = ofProblems == problems.size() ? null : problems.get(ofProblems);
            if (one == null || (other != null && other.number() > one.number())) {
                ofProblems += other == null ? 0 : 1;
                return other;
            }
            ofAll--;
            ofProblems += other != null && other.number() == one.number() ? 1 : 0;
            return one;
        }
    }
}
