package dev.culvert.server.access;

import dev.culvert.config.Reason;
import java.io.IOException;
import java.text.ParseException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * An issuer's keys, kept in memory. They are fetched on first use, in the background every {@link #REFRESH}
 * while they are used, and at once when a signature names an unknown key, at most once every {@link #PAUSE}.
 * While the issuer can't be reached, the last keys are used for {@link #MAX_STALE}. Callable from any
 * thread.
 */
final class KeySource {
    static final Duration REFRESH = Duration.ofMinutes(5);
    /** Longer than usual outages of an issuer. A key withdrawn meanwhile stays valid for this time. */
    static final Duration MAX_STALE = Duration.ofHours(1);
    /** The minimum interval between fetches, so callers that name unknown keys can't cause more. */
    static final Duration PAUSE = Duration.ofSeconds(10);
    private static final Logger log = LoggerFactory.getLogger(KeySource.class);

    private final String name;
    private final Supplier<Mono<byte[]>> fetch;
    private final LongSupplier nanoClock;
    private final AtomicReference<@Nullable Mono<SignatureKeys>> running = new AtomicReference<>();
    private volatile @Nullable Kept kept;
    private volatile long startedNanos;

    private record Kept(SignatureKeys keys, long nanos) {}

    /** The reason that there are no keys. */
    static final class AbsentException extends IOException {
        private static final long serialVersionUID = 1;

        AbsentException() {
            super("the keys could not be fetched");
        }
    }

    /**
     * @param name the location of the keys, for the log
     * @param fetch gets the JWK set's JSON
     */
    KeySource(String name, Supplier<Mono<byte[]>> fetch, LongSupplier nanoClock) {
        this.name = name;
        this.fetch = fetch;
        this.nanoClock = nanoClock;
        this.startedNanos = nanoClock.getAsLong() - PAUSE.toNanos();
    }

    /**
     * The present keys, or null when there are none or they are too old. Starts a fetch when a refresh is
     * due.
     */
    @Nullable
    SignatureKeys known() {
        Kept have = kept;
        if (have == null) {
            return null;
        }
        long age = nanoClock.getAsLong() - have.nanos;
        if (age >= REFRESH.toNanos()) {
            Mono<SignatureKeys> fetching = fetch();
            if (fetching != null) {
                fetching.subscribe(news -> {}, failed -> {});
            }
        }
        return age < MAX_STALE.toNanos() ? have.keys : null;
    }

    /**
     * The keys, fetched if necessary. Errors: those of the fetch. Cancelling is harmless. Always emits a
     * value.
     */
    Mono<SignatureKeys> keys() {
        return Mono.defer(() -> {
            SignatureKeys known = known();
            return known == null ? fetched() : Mono.just(known);
        });
    }

    /** Newer keys than {@code lacking}, if there are any by now; otherwise the same keys. */
    Mono<SignatureKeys> after(SignatureKeys lacking) {
        return Mono.defer(() -> {
            SignatureKeys known = known();
            if (known != null && !known.equals(lacking)) { // another call fetched meanwhile
                return Mono.just(known);
            }
            Mono<SignatureKeys> fetching = fetch();
            return fetching == null ? Mono.just(lacking) : fetching.onErrorReturn(lacking);
        });
    }

    private Mono<SignatureKeys> fetched() {
        Mono<SignatureKeys> fetching = fetch();
        return fetching == null ? Mono.error(new AbsentException()) : fetching;
    }

    /** The fetch in flight, or a new one; null within {@link #PAUSE} of the last. */
    private @Nullable Mono<SignatureKeys> fetch() {
        Mono<SignatureKeys> present = running.get();
        if (present != null) {
            return present;
        }
        long now = nanoClock.getAsLong();
        if (now - startedNanos < PAUSE.toNanos()) {
            return null;
        }
        Mono<SignatureKeys> mine = fetch.get()
                .flatMap(KeySource::parsed)
                .doOnNext(this::keep)
                .doOnError(failed -> log.atWarn()
                        .addKeyValue("jwks", name)
                        .addKeyValue("reason", Reason.of(failed))
                        .log("keys of an issuer could not be fetched"))
                .doFinally(done -> running.set(null))
                .cache();
        if (running.compareAndSet(null, mine)) {
            startedNanos = now;
            return mine;
        }
        return running.get();
    }

    private static Mono<SignatureKeys> parsed(byte[] json) {
        try {
            return Mono.just(SignatureKeys.parse(json));
        } catch (ParseException e) {
            return Mono.error(new IOException("it is no JWK set with keys for signatures", e));
        }
    }

    private void keep(SignatureKeys news) {
        kept = new Kept(news, nanoClock.getAsLong());
    }
}
