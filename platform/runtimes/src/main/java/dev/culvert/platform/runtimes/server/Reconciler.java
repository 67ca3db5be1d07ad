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
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.function.BinaryOperator;
import java.util.function.Function;
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
    /** As many runtimes are created again on a server that has none; more are no accident. */
    private static final long MAX_LOST = 5;
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
            return listed().flatMap(listed -> requireKnown(listed.names).thenReturn(listed))
                    .flatMap(listed -> runtimes(listed.names, began)
                            .flatMap(ofRuntimes -> ended(listed.names, began).map(ofRuntimes::plus))
                            .flatMap(both -> unknown(listed.names).map(both::plus))
                            .flatMap(all -> enrolled(listed.connected).map(all::plus)));
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

    /** Errors when the server has nothing of what it had: with another registrar's token, for example. */
    private Mono<Void> requireKnown(Set<String> names) {
        return !names.isEmpty()
                ? Mono.empty()
                : store.read(RuntimeTable::ready)
                        .flatMap(ready -> ready <= MAX_LOST
                                ? Mono.empty()
                                : Mono.error(new IOException("the tunnel server has none of this registrar,"
                                        + " but had " + ready + ". Is the token of the right registrar?"
                                        + " Nothing is repaired")));
    }

    /** What the tunnel server has, and of that those with a tunnel. */
    private record Listed(Set<String> names, Set<String> connected) {}

    private Mono<Listed> listed() {
        return server.page(null)
                .expand(page -> page.next() == null ? Mono.empty() : server.page(page.next()))
                .reduce(new Listed(new TreeSet<>(), new TreeSet<>()), (listed, page) -> {
                    listed.names.addAll(page.names());
                    listed.connected.addAll(page.connected());
                    return listed;
                })
                .flatMap(listed -> listed.names.size() > MAX_RUNTIMES
                        ? Mono.error(new IOException("the tunnel server has more than " + MAX_RUNTIMES
                                + " runtimes of this registrar"))
                        : Mono.just(listed));
    }

    /** The place of a runtime in the order of accounts and names. */
    private record Place(String account, String name) {
        static final Place FIRST = new Place("", "");

        static Place of(StoredRuntime runtime) {
            return new Place(runtime.account(), runtime.name());
        }

        static Place of(EndedRuntime runtime) {
            return new Place(runtime.account(), runtime.name());
        }

        /** The name as the tunnel server's list has it. */
        String key() {
            return account + "/" + name;
        }
    }

    /**
     * A page of work, and where the next one begins.
     *
     * @param seen the runtimes of the page
     */
    private record Step(Differences differences, List<Place> seen) {
        boolean isLast() {
            return seen.size() < PAGE;
        }
    }

    /** Reads the page after a place. */
    @FunctionalInterface
    private interface Pages<T> {
        List<T> after(Connection connection, Place place) throws SQLException;
    }

    /** Reads the one at a place; null: it is gone. */
    @FunctionalInterface
    private interface Finder<T> {
        @Nullable
        T at(Connection connection, Place place) throws SQLException;
    }

    /** Judges a runtime of a page, and repairs what is safe. */
    @FunctionalInterface
    private interface Judge<T> {
        Differences judged(Connection change, T runtime, boolean isThere) throws SQLException;
    }

    /**
     * Runtimes that are compared alike.
     *
     * @param mayChange whether one may need a change, by whether it is in the other list; the judge changes
     *     nothing of others
     */
    private record Kind<T>(Pages<T> pages, Finder<T> finder, Function<T, Place> places,
            BiPredicate<T, Boolean> mayChange, Judge<T> judge) {
        /** What a page shows, and those that may need a change. */
        Glance glance(Connection connection, Place after, Set<String> names) throws SQLException {
            Differences sum = Differences.NONE;
            List<Place> seen = new ArrayList<>();
            List<Place> left = new ArrayList<>();
            for (T runtime : pages.after(connection, after)) {
                Place place = places.apply(runtime);
                boolean isThere = names.contains(place.key());
                seen.add(place);
                if (mayChange.test(runtime, isThere)) {
                    left.add(place);
                } else {
                    sum = sum.plus(judge.judged(connection, runtime, isThere));
                }
            }
            return new Glance(new Step(sum, seen), left);
        }

        /** Judges one as it is now. */
        Differences judged(Connection change, Place place, Set<String> names) throws SQLException {
            T runtime = finder.at(change, place);
            return runtime == null
                    ? Differences.NONE
                    : judge.judged(change, runtime, names.contains(place.key()));
        }
    }

    /** What a page shows without a change. */
    private record Glance(Step step, List<Place> left) {}

    private Mono<Differences> runtimes(Set<String> names, long began) {
        return paged(names, new Kind<>(
                (connection, after) -> RuntimeTable.all(connection, after.account(), after.name(), PAGE),
                (connection, place) -> RuntimeTable.find(connection, place.account(), place.name()),
                Place::of,
                (runtime, isThere) -> !isThere && isLost(runtime, began),
                (change, runtime, isThere) -> judged(change, runtime, isThere, began)))
                .flatMap(sum -> forgetCredentials(began).thenReturn(sum));
    }

    /** All accounts are locked only when there is one to forget. */
    private Mono<Void> forgetCredentials(long began) {
        return store.read(connection -> RuntimeTable.hasCredentialsBefore(connection, began))
                .flatMap(has -> has
                        ? store.change(connection -> {
                            RuntimeTable.forgetCredentials(connection, began);
                            return true;
                        })
                        : Mono.just(false))
                .then();
    }

    private Mono<Differences> ended(Set<String> names, long began) {
        return paged(names, new Kind<>(
                (connection, after) -> AccountTable.ended(connection, after.account(), after.name(), PAGE),
                (connection, place) -> AccountTable.ended(connection, place.account(), place.name()),
                Place::of,
                (runtime, isThere) -> !isOnItsWay(runtime, began),
                (change, runtime, isThere) -> judged(change, runtime, isThere, began)));
    }

    /** Forgets the credentials with which clients have enrolled: those of runtimes with a tunnel. */
    private Mono<Differences> enrolled(Set<String> connected) {
        return paged(connected, new Kind<>(
                (connection, after) -> RuntimeTable.enrolling(connection, after.account(), after.name(),
                        PAGE),
                (connection, place) -> RuntimeTable.find(connection, place.account(), place.name()),
                Place::of, (runtime, isConnected) -> isConnected, (change, runtime, isConnected) -> {
                    // One that was made anew meanwhile has not enrolled.
                    if (isConnected && runtime.serverState() == ServerState.READY) {
                        RuntimeTable.forgetCredential(change, runtime.account(), runtime.name());
                    }
                    return Differences.NONE;
                }));
    }

    /**
     * Reads page by page without a lock. One that may need a change is judged again in a change of its
     * account, which excludes no other account's. Takes the names of each page out of {@code names} after
     * that.
     */
    private <T> Mono<Differences> paged(Set<String> names, Kind<T> kind) {
        Function<Place, Mono<Step>> stepAfter = after -> store
                .read(connection -> kind.glance(connection, after, names))
                .flatMap(glance -> Flux.fromIterable(glance.left)
                        .concatMap(place -> store.change(place.account(),
                                change -> kind.judged(change, place, names)))
                        .reduce(glance.step.differences, Differences::plus)
                        .map(sum -> new Step(sum, glance.step.seen)));
        return stepAfter.apply(Place.FIRST)
                .expand(step -> step.isLast() ? Mono.empty() : stepAfter.apply(step.seen().getLast()))
                .doOnNext(step -> step.seen().forEach(place -> names.remove(place.key())))
                .map(Step::differences)
                .reduce(Differences.NONE, Differences::plus);
    }

    /** Whether a runtime should be at the server by now. */
    private static boolean isLost(StoredRuntime runtime, long began) {
        return switch (runtime.serverState()) {
            case NONE, REFUSED -> false;
            case PENDING -> runtime.serverSince() + DROPPED_SECONDS <= began;
            case READY -> runtime.serverSince() < began;
        };
    }

    private static boolean isOnItsWay(EndedRuntime runtime, long began) {
        return runtime.since() + ON_ITS_WAY_SECONDS > began;
    }

    private Differences judged(Connection change, StoredRuntime runtime, boolean isThere, long began)
            throws SQLException {
        String name = Place.of(runtime).key();
        return switch (runtime.serverState()) {
            case NONE -> isThere ? Differences.unknown(name) : Differences.NONE;
            case REFUSED -> Differences.refused(name);
            case PENDING, READY ->
                isThere || !isLost(runtime, began) ? Differences.NONE : again(change, runtime, began);
        };
    }

    private Differences again(Connection change, StoredRuntime runtime, long began) throws SQLException {
        if (outbox.isWaiting(change, runtime.account(), runtime.name())) {
            return Differences.NONE;
        }
        Credential credential = RuntimeTable.credential(change, runtime.account(), runtime.name());
        String upstream = runtime.managed() ? upstreams.apply(runtime.account(), runtime.name()) : null;
        if (upstream == null && (credential == null || credential.expires() <= began)) {
            return Differences.missing(Place.of(runtime).key());
        }
        if (!isAdded(change, new ServerMessage.Create(runtime.account(), runtime.name(), upstream))) {
            return Differences.NONE;
        }
        RuntimeTable.server(change, runtime.account(), runtime.name(), ServerState.PENDING, null, began);
        return Differences.ONE_REPAIRED;
    }

    /** Returns false when the outbox has no room: the next comparison tries again. */
    private boolean isAdded(Connection change, ServerMessage message) throws SQLException {
        try {
            outbox.add(change, message.account(), message.name(), message.text());
            return true;
        } catch (StoreException.Full full) {
            log.atDebug()
                    .addKeyValue("runtime", message.account() + "/" + message.name())
                    .log("not sent to the tunnel server again: the outbox has no room");
            return false;
        }
    }

    private Differences judged(Connection change, EndedRuntime runtime, boolean isThere, long began)
            throws SQLException {
        Differences kept = isThere && runtime.refusal() != null
                ? Differences.kept(Place.of(runtime).key() + ": " + runtime.refusal())
                : Differences.NONE;
        if (isOnItsWay(runtime, began) || outbox.isWaiting(change, runtime.account(), runtime.name())) {
            return kept;
        }
        if (!isThere) {
            AccountTable.forgetEnded(change, runtime.account(), runtime.name());
            return Differences.NONE;
        }
        // What was refused is tried again, too: the webhooks that waited may have been taken.
        if (!isAdded(change,
                new ServerMessage.Delete(runtime.account(), runtime.name(), runtime.force()))) {
            return kept;
        }
        AccountTable.end(change, new EndedRuntime(runtime.account(), runtime.name(), began, runtime.refusal(),
                runtime.force()));
        return runtime.refusal() == null ? Differences.ONE_REPAIRED : kept;
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
}
