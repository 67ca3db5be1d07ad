package dev.culvert.appproxy.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Caches answers of the control plane, each with its own lifetime. Concurrent queries of one key share one
 * call. An answer used in the last quarter of its lifetime is refreshed in the background. No answer is
 * served after its lifetime. Callable from any thread.
 */
final class AnswerCache<K, V> {
    /** The maximum number of keys being queried, so a control plane that hangs can't fill the memory. */
    static final int MAX_FLIGHTS = 1_000;

    private static final Duration AFTER_FAILED_REFRESH = Duration.ofSeconds(1);

    private final Cache<K, Answer<V>> answers;
    private final ConcurrentHashMap<K, Flight<V>> flights = new ConcurrentHashMap<>();
    private final Function<? super V, Duration> life;
    private final Ticker ticker;
    /** Increases with each {@link #forget}: answers to earlier queries are not served to later ones. */
    private final AtomicLong epoch = new AtomicLong();

    /**
     * @param life the lifetime of an answer
     * @param ticker the time in nanoseconds
     */
    AnswerCache(int maxAnswers, Function<? super V, Duration> life, Ticker ticker) {
        this.life = life;
        this.ticker = ticker;
        this.answers = Caffeine.newBuilder()
                .maximumSize(maxAnswers)
                .ticker(ticker)
                .expireAfter(Expiry.<K, Answer<V>>writing(
                        (key, answer) -> Duration.ofNanos(Math.max(0, answer.until - ticker.read()))))
                .build();
    }

    private record Answer<V>(V value, long until, long refreshAt, long epoch) {}

    /** A query in flight, shared by all subscribers of its key. */
    private record Flight<V>(Mono<V> answer) {}

    /**
     * The answer for {@code key}, from {@code ask} if none is cached. Cancelling does not stop the query,
     * which others may share. Errors: those of {@code ask}, which are not cached; HandlerException
     * OVERLOADED.
     */
    Mono<V> get(K key, Mono<V> ask) {
        return Mono.defer(() -> {
            Answer<V> known = known(key);
            if (known == null) {
                return asked(key, ask);
            }
            if (ticker.read() - known.refreshAt >= 0) {
                refresh(key, known, ask);
            }
            return Mono.just(known.value);
        });
    }

    /** Drops all answers, also those of queries in flight. */
    void forget() {
        epoch.incrementAndGet();
        flights.clear();
        answers.invalidateAll();
    }

    /** The number of cached answers, for tests of the bound. */
    long size() {
        answers.cleanUp();
        return answers.estimatedSize();
    }

    private @Nullable Answer<V> known(K key) {
        Answer<V> known = answers.getIfPresent(key);
        return known == null || known.epoch != epoch.get() ? null : known;
    }

    private Mono<V> asked(K key, Mono<V> ask) {
        if (flights.size() >= MAX_FLIGHTS && !flights.containsKey(key)) {
            return Mono.error(HandlerException.of(Reason.OVERLOADED,
                    "too many permissions are being asked of the control plane")
                    .retryAfter(AFTER_FAILED_REFRESH));
        }
        Flight<V> flight = flights.computeIfAbsent(key,
                same -> known(same) == null ? begin(same, ask) : null);
        if (flight != null) {
            return flight.answer;
        }
        Answer<V> known = known(key); // the answer arrived between the two look-ups
        return known == null ? ask : Mono.just(known.value);
    }

    private void refresh(K key, Answer<V> known, Mono<V> ask) {
        if (flights.size() >= MAX_FLIGHTS || flights.containsKey(key)) {
            return;
        }
        flights.computeIfAbsent(key, same -> begin(same, ask)).answer
                .subscribe(renewed -> {}, failed -> postpone(key, known));
    }

    /** Delays the next refresh. The old answer keeps its lifetime. */
    private void postpone(K key, Answer<V> known) {
        long again = ticker.read() + AFTER_FAILED_REFRESH.toNanos();
        answers.asMap()
                .computeIfPresent(key, (same, now) -> now.equals(known)
                        ? new Answer<>(now.value, now.until, again, now.epoch)
                        : now);
    }

    private Flight<V> begin(K key, Mono<V> ask) {
        long begun = epoch.get();
        Mono<V> shared = ask.doOnNext(value -> put(key, value, begun))
                .doFinally(end -> flights.computeIfPresent(key,
                        (same, now) -> begun == epoch.get() ? null : now))
                .cache();
        return new Flight<>(shared);
    }

    private void put(K key, V value, long begun) {
        long now = ticker.read();
        long nanos = life.apply(value).toNanos();
        answers.put(key, new Answer<>(value, now + nanos, now + nanos / 4 * 3, begun));
    }
}
