package dev.culvert.platform.host.spi;

import dev.culvert.config.Reason;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Wraps the secrets of a table by the key in force: it looks at its start, and each minute for another key.
 * In steps that can be interrupted; a secret that can't be unwrapped stays as it is, and is reported.
 */
public final class Rewrapping {
    private static final Duration PERIOD = Duration.ofMinutes(1);
    private static final int PAGE = 200;
    private static final Logger log = LoggerFactory.getLogger(Rewrapping.class);

    private final String what;
    private final Store store;
    private final SecretWrapping wrapping;
    private final Secrets secrets;
    private final Disposable.Swap running = Disposables.swap();
    /** The key that wraps all. */
    private volatile @Nullable String done;
    private volatile List<String> troubles = List.of();

    /** @param what the secrets for people, as {@code secrets of events} */
    public Rewrapping(String what, Store store, SecretWrapping wrapping, Secrets secrets) {
        this.what = what;
        this.store = store;
        this.wrapping = wrapping;
        this.secrets = secrets;
    }

    /**
     * A secret of a table.
     *
     * @param key its key in the table, by which the table is read
     * @param name its name for {@link SecretWrapping}
     * @param text as stored
     */
    public record Secret(String account, String key, String name, String text) {
        /** Without the text. */
        @Override
        public String toString() {
            return account + " " + key;
        }
    }

    /** A table with secrets. Both methods block. */
    public interface Secrets {
        /** The first secrets after a key, in the order of keys, that do not begin with a prefix. */
        List<Secret> page(Connection connection, String after, String prefix, int limit) throws SQLException;

        /** Replaces a secret, unless it has changed. */
        void replace(Connection change, Secret before, String text) throws SQLException;
    }

    public void start() {
        running.update(Flux.interval(Duration.ZERO, PERIOD)
                .onBackpressureDrop()
                .concatMap(tick -> run().onErrorResume(failed -> {
                    log.atWarn()
                            .addKeyValue("what", what)
                            .addKeyValue("reason", Reason.of(failed))
                            .log("secrets not wrapped");
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

    /** Wraps those that the key in force does not wrap. Errors: {@link dev.culvert.store.StoreException}. */
    public Mono<Void> run() {
        return wrapping.key()
                .filter(key -> !key.equals(done))
                .flatMap(key -> page(key, "")
                        .expand(step -> step.last.isEmpty() ? Mono.empty() : page(key, step.last))
                        .map(Step::failed)
                        .reduce(0, Integer::sum)
                        .doOnNext(failed -> note(key, failed)))
                .then();
    }

    private void note(String key, int failed) {
        done = failed == 0 ? key : null;
        troubles = failed == 0
                ? List.of()
                : List.of(
                        failed + " " + what + " can't be unwrapped (expected: in tokenKeys.file each key that"
                                + " wraps one)");
    }

    /**
     * A page of work.
     *
     * @param last the last key of the page; empty: there is none behind it
     * @param failed the number of secrets that can't be unwrapped
     */
    private record Step(String last, int failed) {}

    private Mono<Step> page(String key, String after) {
        return store.read(connection -> secrets.page(connection, after, wrapping.prefix(key), PAGE))
                .flatMap(page -> Flux.fromIterable(page)
                        .concatMap(secret -> rewrapped(secret, key))
                        .reduce(0, Integer::sum)
                        .map(failed -> new Step(page.size() < PAGE ? "" : page.getLast().key(), failed)));
    }

    /** Emits 1 if the secret can't be unwrapped. */
    private Mono<Integer> rewrapped(Secret secret, String key) {
        return Mono
                .fromCallable(
                        () -> wrapping.wrap(wrapping.unwrap(secret.text(), secret.name()), secret.name(),
                                key))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(wrapped -> store.change(secret.account(), connection -> {
                    secrets.replace(connection, secret, wrapped);
                    return 0;
                }))
                .onErrorResume(SecretWrapping.Failed.class, failed -> Mono.just(1));
    }
}
