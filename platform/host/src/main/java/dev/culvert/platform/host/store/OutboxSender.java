package dev.culvert.platform.host.store;

import dev.culvert.config.Reason;
import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.OutboxEntry;
import dev.culvert.platform.host.store.OutboxTable.Backlog;
import dev.culvert.platform.host.store.OutboxTable.Stored;
import dev.culvert.store.Database;
import dev.culvert.store.StoreException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Stores the modules' messages and delivers them. A round reads the due messages and starts their deliveries;
 * rounds run one after the other, after a commit that added messages, after a delivery, and when the next
 * message is due. Safe for use by any thread.
 */
public final class OutboxSender {
    /** The message of an error that operators see. */
    private static final int MAX_ERROR_CHARS = 500;
    /** The age of a module's oldest message at which the platform counts as degraded. */
    private static final Duration LATE = Duration.ofMinutes(1);
    private static final int IDLE_THREAD_SECONDS = 60;
    /** The pause after a round or a result that the database refused. */
    private static final Duration ROUND_AGAIN = Duration.ofSeconds(1);
    /** How much longer than its delivery a message is claimed, for its result to be stored. */
    private static final Duration CLAIM_SPARE = Duration.ofSeconds(15);
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(5);
    /** The longest time to the next round where other processes add messages. */
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);
    private static final Logger log = LoggerFactory.getLogger(OutboxSender.class);

    private final PlatformStore store;
    private final OutboxLimits limits;
    private final Clock clock;
    private final LongSupplier nanos;
    private final MeterRegistry registry;
    private final Map<String, Outbox.Courier> couriers = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> waiting = new ConcurrentHashMap<>();
    /** Deliveries in progress: account by {@link OutboxTable#targetKey}. */
    private final Map<String, String> inProgress = new ConcurrentHashMap<>();
    /** The messages that are read to be delivered, or are being delivered, by their ids. */
    private final Map<Long, Stored> taken = new ConcurrentHashMap<>();
    private final AtomicInteger rounds = new AtomicInteger();
    /** Completes when the round has ended that runs while this stops. */
    private final Sinks.Empty<Void> lastRound = Sinks.empty();
    private final Disposable.Swap timer = Disposables.swap();
    private final Disposable.Composite deliveries = Disposables.composite();
    /** Couriers run here: one that blocks takes a place of its account's, and its time-out interrupts it. */
    private final Scheduler threads;
    private volatile boolean stopped = true;

    public OutboxSender(PlatformStore store, OutboxLimits limits, Clock clock, MeterRegistry registry) {
        this(store, limits, clock, System::nanoTime, registry);
    }

    OutboxSender(PlatformStore store, OutboxLimits limits, Clock clock, LongSupplier nanos,
            MeterRegistry registry) {
        this.nanos = nanos;
        this.store = store;
        this.limits = limits;
        this.clock = clock;
        this.registry = registry;
        this.threads = Schedulers.newBoundedElastic(limits.concurrent(), limits.concurrent(),
                "culvert-outbox",
                IDLE_THREAD_SECONDS, true);
        store.afterCommit(change -> {
            if (change.hasMessages()) {
                round();
            }
        });
    }

    /** The outbox of one module. */
    public Outbox of(String module) {
        return new OfModule(module);
    }

    /** Begins to deliver what waits, also from before a crash. */
    public void start() {
        stopped = false;
        round();
    }

    /**
     * Ends deliveries in progress; their messages stay, and other processes may deliver them. Completes when
     * that is stored, or after 5 s.
     */
    public Mono<Void> stop() {
        return Mono.defer(() -> {
            stopped = true;
            timer.dispose();
            deliveries.dispose();
            return (rounds.get() == 0 ? Mono.<Void>empty() : lastRound.asMono())
                    .then(Mono.defer(() -> released(List.copyOf(taken.values()))))
                    .timeout(STOP_PATIENCE)
                    .onErrorComplete()
                    .doFinally(end -> threads.dispose());
        });
    }

    /**
     * Removes the messages of an account that ends. Those that are being delivered stay, so that a last
     * message to the same target is delivered after them. Blocks.
     */
    public void accountEnded(Connection change, String account) throws SQLException {
        OutboxTable.removeAll(store.engine(), change, account,
                store.engine() == Database.Engine.SQLITE
                        ? taken.values()
                                .stream()
                                .filter(message -> message.entry().account().equals(account))
                                .map(Stored::id)
                                .toList()
                        : List.of());
    }

    /** The up to 100 oldest messages. */
    public Mono<List<WaitingMessage>> oldest() {
        return store.read(connection -> OutboxTable.oldest(connection, 100)
                .stream()
                .map(WaitingMessage::of)
                .toList());
    }

    /** One line for each module whose oldest message waits for more than a minute. */
    public Mono<List<String>> troubles() {
        return store.read(OutboxTable::backlogs)
                .map(all -> all.stream().filter(this::isLate).map(this::trouble).toList());
    }

    private boolean isLate(Backlog backlog) {
        return clock.millis() - backlog.oldest() > LATE.toMillis();
    }

    private String trouble(Backlog backlog) {
        return "outbox of " + backlog.module() + ": " + backlog.count() + " messages wait, the oldest for "
                + (clock.millis() - backlog.oldest()) / 1000 + " s"
                + (backlog.error() == null ? "" : ": " + backlog.error());
    }

    private void round() {
        if (!stopped && rounds.getAndIncrement() == 0) {
            next();
        }
    }

    private void next() {
        int seen = rounds.get();
        readDue().doOnNext(this::begin).then().onErrorResume(failed -> {
            if (!(failed instanceof StoreException.Away)) { // which is logged once
                log.atWarn().addKeyValue("reason", Reason.of(failed)).log("outbox not read");
            }
            schedule(ROUND_AGAIN);
            return Mono.empty();
        }).subscribe(none -> {}, failed -> {}, () -> {
            int more = rounds.addAndGet(-seen);
            if (stopped) {
                lastRound.tryEmitEmpty();
            } else if (more > 0) {
                next();
            }
        });
    }

    /** On a server the due messages are claimed, which is a change. */
    private Mono<Round> readDue() {
        return Mono.defer(() -> {
            long began = nanos.getAsLong();
            return store.engine() == Database.Engine.SQLITE
                    ? store.read(connection -> {
                        Round round = due(connection, began);
                        // Here, as a change that follows may end the account.
                        round.due().forEach(message -> taken.put(message.id(), message));
                        return round;
                    })
                    : store.changeRows(connection -> due(connection, began));
        });
    }

    /**
     * What a round does.
     *
     * @param began a time before the claims of its messages, in nanoseconds
     * @param due the messages to deliver now
     * @param pause until the next message is due; null: none is known
     */
    private record Round(long began, List<Stored> due, @Nullable Duration pause) {}

    /**
     * Whether the claims of a round may end before a delivery would: the COMMIT waited for a replica. Others
     * may deliver the messages then.
     */
    private boolean isLate(Round round) {
        return store.engine() != Database.Engine.SQLITE
                && nanos.getAsLong() - round.began() > CLAIM_SPARE.toNanos();
    }

    private Round due(Connection connection, long began) throws SQLException {
        long now = clock.millis();
        Map<String, Integer> ofAccount = new HashMap<>();
        inProgress.values().forEach(account -> ofAccount.merge(account, 1, Integer::sum));
        Set<String> busyAccounts = ofAccount.entrySet()
                .stream()
                .filter(account -> account.getValue() >= limits.concurrentPerAccount())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        List<Stored> due = inProgress.size() >= limits.concurrent() || couriers.isEmpty()
                ? List.of()
                : OutboxTable.due(store.engine(), connection, now, Set.copyOf(inProgress.keySet()),
                        busyAccounts,
                        Set.copyOf(couriers.keySet()), limits, limits.timeout().plus(CLAIM_SPARE));
        Map<String, Long> counts = OutboxTable.backlogs(connection)
                .stream()
                .collect(Collectors.toMap(Backlog::module, Backlog::count));
        waiting.forEach((module, count) -> count.set(Math.toIntExact(counts.getOrDefault(module, 0L))));
        Long nextAt = OutboxTable.nextAt(connection, now);
        Duration pause = nextAt == null ? null : Duration.ofMillis(nextAt - now);
        return new Round(began, due, store.engine() == Database.Engine.SQLITE || (pause != null
                && pause.compareTo(LOOK_AGAIN) < 0) ? pause : LOOK_AGAIN);
    }

    private void begin(Round round) {
        if (stopped) { // which releases them
            round.due().forEach(message -> taken.put(message.id(), message));
            return;
        }
        boolean begun = false;
        boolean isLate = isLate(round);
        List<Stored> left = new ArrayList<>();
        for (Stored message : round.due()) {
            OutboxEntry entry = message.entry();
            String key = OutboxTable.targetKey(message.module(), entry);
            long running = inProgress.values().stream().filter(entry.account()::equals).count();
            if (!isLate && running < limits.concurrentPerAccount() && inProgress.size() < limits.concurrent()
                    && inProgress.putIfAbsent(key, entry.account()) == null) {
                begun = true;
                deliver(message, key);
            } else {
                taken.remove(entry.id());
                left.add(message);
            }
        }
        release(left);
        if (begun) {
            round(); // accounts that are busy now leave room for the messages of others
        }
        if (round.pause() != null) {
            schedule(round.pause());
        }
    }

    /** Another process may deliver what this one has claimed and does not deliver. */
    private void release(Collection<Stored> claimed) {
        released(claimed).subscribe();
    }

    private Mono<Void> released(Collection<Stored> claimed) {
        return claimed.isEmpty() || store.engine() == Database.Engine.SQLITE
                ? Mono.empty()
                : store.changeRows(connection -> {
                    OutboxTable.release(connection, claimed);
                    return true;
                }).onErrorComplete().then();
    }

    private void schedule(Duration pause) {
        timer.update(Mono.delay(pause, Schedulers.parallel()).subscribe(due -> round()));
    }

    private void deliver(Stored message, String key) {
        Outbox.Courier courier = couriers.get(message.module());
        Mono<Void> work = courier == null ? Mono.empty() : Mono.defer(() -> courier.deliver(message.entry()));
        Disposable.Swap running = Disposables.swap();
        deliveries.add(running);
        taken.put(message.id(), message);
        running.update(work.subscribeOn(threads)
                .timeout(limits.timeout())
                .then(Mono.just(Optional.<Throwable>empty()))
                .onErrorResume(failed -> Mono.just(Optional.of(failed)))
                .flatMap(failure -> failure.isPresent()
                        ? failed(message, failure.get())
                        : delivered(message))
                .onErrorResume(this::unstored)
                .doFinally(end -> {
                    if (!stopped) {
                        taken.remove(message.id());
                    }
                    inProgress.remove(key);
                    deliveries.remove(running);
                    round();
                })
                .subscribe());
    }

    /** The message stays, and its target waits a moment. */
    private Mono<Void> unstored(Throwable failure) {
        log.atWarn()
                .addKeyValue("reason", Reason.of(failure))
                .log("result of a delivery not stored: it is repeated");
        return Mono.delay(ROUND_AGAIN).then();
    }

    private Mono<Void> delivered(Stored message) {
        return store.changeRows(connection -> OutboxTable.remove(store.engine(), connection, message))
                .doOnNext(isOwn -> noted(message, isOwn, "delivered"))
                .then();
    }

    /** Another process may have claimed the message meanwhile: its result counts then. */
    private void noted(Stored message, boolean isOwn, String outcome) {
        if (isOwn) {
            count(message.module(), outcome);
        } else {
            log.atWarn()
                    .addKeyValue("module", message.module())
                    .addKeyValue("account", message.entry().account())
                    .addKeyValue("target", message.entry().target())
                    .log("a delivery took longer than its claim: another process repeats the message");
        }
    }

    private Mono<Void> failed(Stored message, Throwable failure) {
        OutboxEntry entry = message.entry();
        long now = clock.millis();
        boolean isOver = now - message.created() > limits.maxAge().toMillis();
        long pause = limits.pause(entry.attempt()).toMillis();
        long spread = ThreadLocalRandom.current().nextLong(Math.max(1, pause / 4));
        String error = Reason.of(failure);
        return store.changeRows(connection -> isOver
                ? OutboxTable.remove(store.engine(), connection, message)
                : OutboxTable.failed(store.engine(), connection, message, now + pause + spread,
                        error.substring(0, Math.min(MAX_ERROR_CHARS, error.length()))))
                .doOnNext(isOwn -> {
                    noted(message, isOwn, isOver ? "dropped" : "failed");
                    if (isOwn && isOver) {
                        log.atWarn()
                                .addKeyValue("module", message.module())
                                .addKeyValue("account", entry.account())
                                .addKeyValue("target", entry.target())
                                .addKeyValue("reason", error)
                                .log("message dropped: it could not be delivered for 7 days");
                    }
                })
                .then();
    }

    private void count(String module, String outcome) {
        registry.counter("culvert.outbox.deliveries", "module", module, "outcome", outcome).increment();
    }

    private final class OfModule implements Outbox {
        private final String module;

        OfModule(String module) {
            this.module = module;
        }

        @Override
        public void add(Connection change, String account, String target, String body) throws SQLException {
            if (body.length() > MAX_CHARS) {
                throw new IllegalArgumentException(
                        "a message of " + body.length() + " characters (expected: at most " + MAX_CHARS
                                + ")");
            }
            OutboxTable.add(change, module, account, target, body, clock.millis(), limits);
            store.changeOn(change).addedMessage();
        }

        @Override
        public boolean isWaiting(Connection connection, String account, String target) throws SQLException {
            return OutboxTable.isWaiting(connection, module, account, target);
        }

        @Override
        public void deliver(Courier courier) {
            if (couriers.putIfAbsent(module, courier) != null) {
                throw new IllegalStateException("module " + module + " has a courier already");
            }
            var count = waiting.computeIfAbsent(module, absent -> new AtomicInteger());
            Gauge.builder("culvert.outbox.messages", count, AtomicInteger::get)
                    .tag("module", module)
                    .strongReference(true)
                    .register(registry);
        }
    }
}
