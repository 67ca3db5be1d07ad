package dev.culvert.platform.directory.rules;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Weigher;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Values that are read once and kept until they are dropped or room is short. Concurrent reads of one key are
 * one. What is dropped while it is read is not kept, so a value never is older than the last {@link #drop} of
 * its key. Callable from any thread.
 */
final class KeptValues<K, V> {
    private final Cache<K, V> values;
    private final ConcurrentHashMap<K, Reading> reads = new ConcurrentHashMap<>();
    private final Function<K, Mono<V>> read;

    /**
     * @param maxWeight the weight of all values that are kept
     * @param read reads a value; always emits one
     */
    KeptValues(long maxWeight, Weigher<K, V> weigher, Function<K, Mono<V>> read) {
        this.values = Caffeine.newBuilder()
                .maximumWeight(maxWeight)
                .weigher(weigher)
                .executor(Runnable::run)
                .build();
        this.read = read;
    }

    /** The value, as it was kept or is read now. Errors: those of the read. */
    Mono<V> get(K key) {
        return Mono.defer(() -> {
            V known = values.getIfPresent(key);
            return known == null ? reads.computeIfAbsent(key, Reading::new).value : Mono.just(known);
        });
    }

    /** The value if it is kept; null if it would have to be read. */
    @Nullable
    V present(K key) {
        return values.getIfPresent(key);
    }

    private final class Reading {
        private final Mono<V> value;

        Reading(K key) {
            this.value = Mono.defer(() -> read.apply(key))
                    .doOnNext(read -> keep(key, read, this))
                    .doOnTerminate(() -> reads.remove(key, this))
                    .cache();
        }
    }

    /** Keeps what was read, unless it was dropped meanwhile. */
    private void keep(K key, V value, Reading reading) {
        reads.computeIfPresent(key, (same, now) -> {
            if (now.equals(reading)) {
                values.put(same, value);
            }
            return now;
        });
    }

    /** Drops a value. A read that has begun is for those who wait for it already. */
    void drop(K key) {
        reads.compute(key, (same, now) -> {
            values.invalidate(same);
            return null;
        });
    }

    /** Drops the values of all keys that match. */
    void dropIf(Predicate<K> matching) {
        reads.keySet().stream().filter(matching).forEach(this::drop);
        values.asMap().keySet().removeIf(matching);
    }

    /** About the number of kept values. */
    long size() {
        values.cleanUp();
        return values.estimatedSize();
    }
}
