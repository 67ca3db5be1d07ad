package dev.culvert.platform.runtimes.server;

import dev.culvert.config.Reason;
import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.runtimes.store.AccountTable;
import dev.culvert.platform.runtimes.store.Credential;
import dev.culvert.platform.runtimes.store.EndedRuntime;
import dev.culvert.platform.runtimes.store.RuntimeTable;
import dev.culvert.platform.runtimes.store.ServerState;
import dev.culvert.platform.runtimes.store.StoredRuntime;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Compares the runtimes of the tunnel server with those of the platform, each minute, and sends again what is
 * safe to send: the creation of a runtime that the server does not have, while its credential has not
 * expired, and the deletion of one that the platform has deleted. The rest is reported: a runtime that the
 * server has and the platform never deleted is not deleted, because the platform may have lost it.
 */
public final class Reconciler {
    private static final Duration PERIOD = Duration.ofMinutes(1);
    /** Messages are on their way for that long before one is sent again. */
    private static final long ON_ITS_WAY_SECONDS = 60;
    /** The outbox drops a message after 7 days. */
    private static final long DROPPED_SECONDS = Duration.ofDays(8).toSeconds();
    private static final int PAGE = 500;
    /** The maximum number of compared runtimes, about 10 MB of names. */
    private static final int MAX_RUNTIMES = 100_000;
    private static final Logger log = LoggerFactory.getLogger(Reconciler.class);

    private final ServerApi server;
    private final Store store;
    private final Outbox outbox;
    private final BinaryOperator<@Nullable String> upstreams;
    private final Clock clock;
    private final Disposable.Swap running = Disposables.swap();
    private volatile Differences found = Differences.NONE;
    private volatile @Nullable String trouble;

    /** @param upstreams gives the upstream of a hosted runtime by account and name; null: none */
    public Reconciler(ServerApi server, Store store, Outbox outbox,
            BinaryOperator<@Nullable String> upstreams,
            Clock clock) {
        this.server = server;
        this.store = store;
        this.outbox = outbox;
        this.upstreams = upstreams;
        this.clock = clock;
    }

    /** Compares now, and then each minute. */
    public void start() {
        running.update(Flux.interval(Duration.ZERO, PERIOD)
                .onBackpressureDrop()
                .concatMap(tick -> compare().onErrorComplete(), 0)
                .subscribe());
    }

    public void stop() {
        running.dispose();
    }

    /** What the last comparison found. */
    public Differences differences() {
        return found;
    }

    /** What operators should know, one line each. */
    public List<String> troubles() {
        String failed = trouble;
        return failed == null
                ? found.lines()
                : List.of("the tunnel server's runtimes can't be compared: " + failed);
    }

    /** Compares and repairs once. Errors: those of the tunnel server and of the store. */
    public Mono<Differences> compare() {
        return Mono.defer(() -> {
            long began = clock.instant().getEpochSecond();
            return names().flatMap(names -> runtimes(names, began)
                    .flatMap(ofRuntimes -> ended(names, began).map(ofRuntimes::plus))
                    .flatMap(both -> unknown(names).map(both::plus)));
        }).doOnNext(this::note).doOnError(failed -> {
            trouble = Reason.of(failed);
            log.atWarn().addKeyValue("reason", Reason.of(failed)).log("runtimes not compared");
        });
    }

    private void note(Differences now) {
        Differences before = found;
        found = now;
        trouble = null;
        if (now.repaired() > 0) {
            log.atInfo().addKeyValue("count", now.repaired()).log("runtimes sent to the tunnel server again");
        }
        if (!now.lines().equals(before.lines())) {
            now.lines()
                    .forEach(line -> log.atWarn()
                            .addKeyValue("difference", line)
                            .log("the tunnel server's runtimes differ"));
        }
    }

    private Mono<Set<String>> names() {
        return server.page(null)
                .expand(page -> page.next() == null ? Mono.empty() : server.page(page.next()))
                .reduce(new TreeSet<String>(), (names, page) -> {
                    names.addAll(page.names());
                    return names;
                })
                .flatMap(names -> names.size() > MAX_RUNTIMES
                        ? Mono.error(new IOException("the tunnel server has more than " + MAX_RUNTIMES
                                + " runtimes of this registrar"))
                        : Mono.just(names));
    }

    /**
     * A page of work, and where the next one begins.
     *
     * @param seen the names of the page
     */
    private record Step(Differences differences, String account, String name, boolean last,
            List<String> seen) {}

    private Mono<Differences> runtimes(Set<String> names, long began) {
        return steps(names, (account, name) -> store.change(connection -> {
            List<StoredRuntime> page = RuntimeTable.all(connection, account, name, PAGE);
            Differences sum = Differences.NONE;
            for (StoredRuntime runtime : page) {
                sum = sum.plus(judged(connection, runtime, names.contains(key(runtime)), began));
            }
            List<String> seen = page.stream().map(Reconciler::key).toList();
            return page.isEmpty()
                    ? new Step(sum, "", "", true, seen)
                    : new Step(sum, page.getLast().account(), page.getLast().name(), page.size() < PAGE,
                            seen);
        })).flatMap(sum -> store.change(connection -> {
            RuntimeTable.forgetCredentials(connection, began);
            return sum;
        }));
    }

    /** Makes a step that begins after a name. */
    @FunctionalInterface
    private interface Stepping {
        Mono<Step> step(String account, String name);
    }

    /** Takes the names of each page out of {@code names} after its commit: its work may run twice. */
    private static Mono<Differences> steps(Set<String> names, Stepping stepping) {
        return stepping.step("", "")
                .expand(step -> step.last ? Mono.empty() : stepping.step(step.account, step.name))
                .doOnNext(step -> step.seen.forEach(names::remove))
                .map(Step::differences)
                .reduce(Differences.NONE, Differences::plus);
    }

    private Differences judged(Connection change, StoredRuntime runtime, boolean isThere, long began)
            throws SQLException {
        String name = key(runtime);
        return switch (runtime.serverState()) {
            case NONE -> isThere ? Differences.unknown(name) : Differences.NONE;
            case REFUSED -> Differences.refused(name);
            case PENDING ->
                isThere || runtime.serverSince() + DROPPED_SECONDS > began
                        ? Differences.NONE
                        : again(change, runtime, began);
            case READY ->
                isThere || runtime.serverSince() >= began ? Differences.NONE : again(change, runtime, began);
        };
    }

    private Differences again(Connection change, StoredRuntime runtime, long began) throws SQLException {
        Credential credential = RuntimeTable.credential(change, runtime.account(), runtime.name());
        String upstream = runtime.managed() ? upstreams.apply(runtime.account(), runtime.name()) : null;
        if (upstream == null && (credential == null || credential.expires() <= began)) {
            return Differences.missing(key(runtime));
        }
        RuntimeTable.server(change, runtime.account(), runtime.name(), ServerState.PENDING, null, began);
        outbox.add(change, runtime.account(), runtime.name(), ServerMessage.Create
                .of(runtime.account(), runtime.name(), upstream, credential)
                .text());
        return Differences.ONE_REPAIRED;
    }

    private Mono<Differences> ended(Set<String> names, long began) {
        return steps(names, (account, name) -> store.change(connection -> {
            List<EndedRuntime> page = AccountTable.ended(connection, account, name, PAGE);
            Differences sum = Differences.NONE;
            for (EndedRuntime runtime : page) {
                sum = sum.plus(judged(connection, runtime, names.contains(key(runtime)), began));
            }
            List<String> seen = page.stream().map(Reconciler::key).toList();
            return page.isEmpty()
                    ? new Step(sum, "", "", true, seen)
                    : new Step(sum, page.getLast().account(), page.getLast().name(), page.size() < PAGE,
                            seen);
        }));
    }

    private Differences judged(Connection change, EndedRuntime runtime, boolean isThere, long began)
            throws SQLException {
        if (isThere && runtime.refusal() != null) {
            return Differences.kept(key(runtime) + ": " + runtime.refusal());
        }
        if (runtime.since() + ON_ITS_WAY_SECONDS > began) {
            return Differences.NONE;
        }
        if (!isThere) {
            AccountTable.forgetEnded(change, runtime.account(), runtime.name());
            return Differences.NONE;
        }
        AccountTable.end(change, new EndedRuntime(runtime.account(), runtime.name(), began, null));
        outbox.add(change, runtime.account(), runtime.name(),
                new ServerMessage.Delete(runtime.account(), runtime.name(), false).text());
        return Differences.ONE_REPAIRED;
    }

    /** What is left: those that were created or deleted since the lists were read are no difference. */
    private Mono<Differences> unknown(Set<String> names) {
        return Flux.fromIterable(List.copyOf(names))
                .concatMap(name -> store.read(connection -> {
                    int slash = name.indexOf('/');
                    String account = name.substring(0, slash);
                    String runtime = name.substring(slash + 1);
                    return RuntimeTable.find(connection, account, runtime) == null
                            && AccountTable.ended(connection, account, runtime) == null
                                    ? Differences.unknown(name)
                                    : Differences.NONE;
                }))
                .reduce(Differences.NONE, Differences::plus);
    }

    private static String key(StoredRuntime runtime) {
        return runtime.account() + "/" + runtime.name();
    }

    private static String key(EndedRuntime runtime) {
        return runtime.account() + "/" + runtime.name();
    }
}
