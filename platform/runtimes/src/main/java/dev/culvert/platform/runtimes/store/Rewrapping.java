package dev.culvert.platform.runtimes.store;

import dev.culvert.config.Reason;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.runtimes.store.RuntimeTable.StoredSecrets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Wraps the secrets of runtimes by the key in force: those that another key wraps, and those of an earlier
 * version, which are in clear. It looks at its start, and each minute for another key. A secret that can't be
 * unwrapped stays as it is, and is reported.
 */
public final class Rewrapping {
    private static final Duration PERIOD = Duration.ofMinutes(1);
    private static final int PAGE = 200;
    private static final Logger log = LoggerFactory.getLogger(Rewrapping.class);

    private final Store store;
    private final SecretWrapping wrapping;
    private final RuntimeSecrets secrets;
    private final Disposable.Swap running = Disposables.swap();
    /** The key that wraps all. */
    private volatile @Nullable String done;
    private volatile Outcome found = Outcome.NONE;

    public Rewrapping(Store store, SecretWrapping wrapping) {
        this.store = store;
        this.wrapping = wrapping;
        this.secrets = new RuntimeSecrets(wrapping);
    }

    /**
     * What became of secrets.
     *
     * @param wrapped the number of runtimes whose secrets were wrapped
     * @param failed the number of those whose secrets can't be unwrapped
     * @param first why, of the first
     */
    record Outcome(int wrapped, int failed, @Nullable String first) {
        static final Outcome NONE = new Outcome(0, 0, null);

        Outcome plus(Outcome other) {
            return new Outcome(wrapped + other.wrapped, failed + other.failed,
                    first == null ? other.first : first);
        }
    }

    /** Starts to look. */
    public void start() {
        running.update(Flux.interval(Duration.ZERO, PERIOD)
                .onBackpressureDrop()
                .concatMap(tick -> run().onErrorComplete(), 0)
                .subscribe());
    }

    public void stop() {
        running.dispose();
    }

    /** What operators should know, one line each. */
    public List<String> troubles() {
        Outcome here = found;
        return here.failed == 0
                ? List.of()
                : List.of(here.failed + " runtimes have secrets that can't be unwrapped, the first: "
                        + here.first + " (expected: in tokenKeys.file each key that wraps one)");
    }

    /** Wraps those that the key in force does not wrap. Errors: those of the store. */
    Mono<Outcome> run() {
        return wrapping.key()
                .filter(key -> !key.equals(done))
                .flatMap(key -> steps(key).doOnNext(outcome -> note(key, outcome)))
                .doOnError(failed -> log.atWarn()
                        .addKeyValue("reason", Reason.of(failed))
                        .log("secrets of runtimes not wrapped"));
    }

    private void note(String key, Outcome outcome) {
        found = outcome;
        done = outcome.failed == 0 ? key : null;
        if (outcome.wrapped > 0) {
            log.atInfo()
                    .addKeyValue("count", outcome.wrapped)
                    .addKeyValue("key", key)
                    .log("secrets of runtimes wrapped");
        }
    }

    /** A page of work. */
    private record Step(Outcome outcome, List<StoredSecrets> page) {}

    private Mono<Outcome> steps(String key) {
        return step(key, "", "")
                .expand(step -> step.page.size() < PAGE
                        ? Mono.empty()
                        : step(key, step.page.getLast().account(), step.page.getLast().name()))
                .map(Step::outcome)
                .reduce(Outcome.NONE, Outcome::plus);
    }

    private Mono<Step> step(String key, String account, String name) {
        return store
                .read(connection -> RuntimeTable.secrets(connection, account, name, wrapping.prefix(key),
                        PAGE))
                .flatMap(page -> Mono.fromCallable(() -> wrapped(page, key))
                        .subscribeOn(Schedulers.boundedElastic())
                        .flatMap(work -> replace(work).thenReturn(new Step(work.outcome, page))));
    }

    /** The secrets of a runtime, before and after. */
    private record Replacement(StoredSecrets before, StoredSecrets after) {}

    /** What was wrapped of a page, by accounts. */
    private record Work(Map<String, List<Replacement>> accounts, Outcome outcome) {}

    private Work wrapped(List<StoredSecrets> page, String key) {
        Map<String, List<Replacement>> accounts = new LinkedHashMap<>();
        Outcome outcome = Outcome.NONE;
        for (StoredSecrets stored : page) {
            try {
                var replacement = new Replacement(stored, wrapped(stored, key));
                accounts.computeIfAbsent(stored.account(), first -> new ArrayList<>()).add(replacement);
                outcome = outcome.plus(new Outcome(1, 0, null));
            } catch (SecretWrapping.Failed failed) {
                outcome = outcome.plus(new Outcome(0, 1,
                        stored.account() + "/" + stored.name() + ": " + failed.getMessage()));
            }
        }
        return new Work(accounts, outcome);
    }

    private StoredSecrets wrapped(StoredSecrets stored, String key) {
        String account = stored.account();
        String name = stored.name();
        Credential credential = stored.credential();
        return new StoredSecrets(account, name,
                secrets.wrapStoreKey(account, name, secrets.storeKey(account, name, stored.storeKey()), key),
                credential == null
                        ? null
                        : secrets.wrap(account, name, secrets.unwrap(account, name, credential), key));
    }

    private Mono<Void> replace(Work work) {
        return Flux.fromIterable(work.accounts.entrySet())
                .concatMap(entry -> store.change(entry.getKey(), connection -> {
                    for (Replacement each : entry.getValue()) {
                        RuntimeTable.rewrap(connection, each.before, each.after);
                    }
                    return true;
                }))
                .then();
    }
}
