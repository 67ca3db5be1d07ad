package dev.culvert.platform.triggers.hermes;

import dev.culvert.config.Reason;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.triggers.store.EventTable;
import dev.culvert.platform.triggers.store.StoredEvent;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The secrets of events, which the database holds wrapped. Each minute those that another key wraps than the
 * one in force are wrapped anew.
 */
public final class EventSecrets {
    private static final int BYTES = 24;
    private static final Duration PERIOD = Duration.ofMinutes(1);
    private static final int PAGE = 200;
    private static final String DECOY = "triggers no event";
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Logger log = LoggerFactory.getLogger(EventSecrets.class);

    private final Store store;
    private final SecretWrapping wrapping;
    private final Disposable.Swap running = Disposables.swap();
    private final AtomicReference<@Nullable String> decoy = new AtomicReference<>();
    /** The key that wraps all. */
    private volatile @Nullable String done;
    private volatile List<String> troubles = List.of();

    public EventSecrets(Store store, SecretWrapping wrapping) {
        this.store = store;
        this.wrapping = wrapping;
    }

    /** A new secret. */
    static String generate() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** Wraps a secret by the key in force. */
    Mono<String> wrap(String uri, String secret) {
        return wrapping.key()
                .flatMap(key -> Mono.fromCallable(() -> wrapping.wrap(secret, name(uri), key))
                        .subscribeOn(Schedulers.boundedElastic()));
    }

    /** The secret of an event; without one a text that nobody knows, which takes the same time. */
    Mono<String> of(@Nullable StoredEvent event) {
        return event == null || event.secret().isEmpty()
                ? decoy().flatMap(wrapped -> unwrapped(wrapped, DECOY))
                : unwrapped(event.secret(), name(event.uri()));
    }

    private Mono<String> unwrapped(String wrapped, String name) {
        return Mono.fromCallable(() -> wrapping.unwrap(wrapped, name))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private Mono<String> decoy() {
        return Mono.defer(() -> {
            String made = decoy.get();
            return made != null
                    ? Mono.just(made)
                    : wrapping.key()
                            .flatMap(key -> Mono.fromCallable(() -> wrapping.wrap(generate(), DECOY, key))
                                    .subscribeOn(Schedulers.boundedElastic()))
                            .doOnNext(decoy::set);
        });
    }

    private static String name(String uri) {
        return "triggers secret " + uri;
    }

    /** Starts to look for other keys. */
    public void start() {
        running.update(Flux.interval(Duration.ZERO, PERIOD)
                .onBackpressureDrop()
                .concatMap(tick -> rewrap().onErrorResume(failed -> {
                    log.atWarn()
                            .addKeyValue("reason", Reason.of(failed))
                            .log("secrets of events not wrapped");
                    return Mono.empty();
                }), 0)
                .subscribe());
    }

    public void stop() {
        running.dispose();
    }

    /** What operators should know, one line each. */
    public List<String> troubles() {
        return troubles;
    }

    /** Wraps those that the key in force does not wrap. */
    Mono<Void> rewrap() {
        return wrapping.key()
                .filter(key -> !key.equals(done))
                .flatMap(key -> page(key, "").expand(last -> last.uri().isEmpty()
                        ? Mono.empty()
                        : page(key, last.uri()))
                        .map(Step::failed)
                        .reduce(0, Integer::sum)
                        .doOnNext(failed -> {
                            decoy.set(null);
                            done = failed == 0 ? key : null;
                            troubles = failed == 0
                                    ? List.of()
                                    : List.of(failed
                                            + " events have secrets that can't be unwrapped (expected: in"
                                            + " tokenKeys.file each key that wraps one)");
                        }))
                .then();
    }

    /**
     * A page of work.
     *
     * @param uri the last event of the page; empty: it was the last page
     * @param failed the number of secrets that can't be unwrapped
     */
    private record Step(String uri, int failed) {}

    private Mono<Step> page(String key, String after) {
        return store
                .read(connection -> EventTable.wrappedByOthers(connection, after, wrapping.prefix(key), PAGE))
                .flatMap(events -> Flux.fromIterable(events)
                        .concatMap(event -> rewrapped(event, key))
                        .reduce(0, Integer::sum)
                        .map(failed -> new Step(events.size() < PAGE ? "" : events.getLast().uri(), failed)));
    }

    /** Emits 1 if the secret can't be unwrapped. */
    private Mono<Integer> rewrapped(StoredEvent event, String key) {
        return Mono
                .fromCallable(() -> wrapping.wrap(wrapping.unwrap(event.secret(), name(event.uri())),
                        name(event.uri()), key))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(wrapped -> store.change(event.account(), connection -> {
                    EventTable.rewrap(connection, event, wrapped);
                    return 0;
                }))
                .onErrorResume(SecretWrapping.Failed.class, failed -> Mono.just(1));
    }
}
