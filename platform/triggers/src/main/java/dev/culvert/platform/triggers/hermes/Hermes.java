package dev.culvert.platform.triggers.hermes;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.OutboxEntry;
import dev.culvert.platform.host.spi.PipelineRuns;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.triggers.store.DeliveryTable;
import dev.culvert.platform.triggers.store.EventTable;
import dev.culvert.platform.triggers.store.RefusalTable;
import dev.culvert.platform.triggers.store.RunTable;
import dev.culvert.platform.triggers.store.StoredEvent;
import dev.culvert.platform.triggers.store.StoredRun;
import dev.culvert.platform.triggers.store.StoredRun.State;
import dev.culvert.platform.triggers.store.StoredTrigger;
import dev.culvert.platform.triggers.store.TriggerTable;
import dev.culvert.store.StoreException;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Takes what happened and starts the pipelines that are linked to it. A delivery, its runs and the messages
 * that start them are one transaction: what was acknowledged starts, once.
 */
public final class Hermes {
    /** The kind of the feed's events. */
    private static final String KIND = "run";
    private static final String WRONG = "the secret is wrong, or there is no such event";
    private static final Duration RETRY_WHEN_FULL = Duration.ofSeconds(30);
    private static final int MAX_DELIVERY = 128;

    private final Store store;
    private final Events feed;
    private final Outbox outbox;
    private final PipelineRuns pipelines;
    private final EventSecrets secrets;
    private final Clock clock;
    private final MeterRegistry registry;

    public Hermes(Store store, Events feed, Outbox outbox, PipelineRuns pipelines, EventSecrets secrets,
            Clock clock, MeterRegistry registry) {
        this.store = store;
        this.feed = feed;
        this.outbox = outbox;
        this.pipelines = pipelines;
        this.secrets = secrets;
        this.clock = clock;
        this.registry = registry;
        outbox.deliver(this::start);
    }

    /**
     * Takes what somebody says to have happened. Errors: HandlerException FORBIDDEN without a proof, in the
     * same words and time where there is no such event; RATE_LIMITED; {@link StoreException}.
     */
    public Mono<Outcome> accept(Happening happening, Proof proof) {
        return proved(happening.event(), proof).flatMap(event -> take(event.account(), happening));
    }

    /** The event, if it is proved that the caller knows its secret. Errors: as {@link #accept}. */
    public Mono<StoredEvent> proved(String uri, Proof proof) {
        return store.read(connection -> new Found(EventTable.find(connection, uri)))
                .flatMap(found -> secrets.of(found.event)
                        .onErrorMap(SecretWrapping.Failed.class,
                                failed -> HandlerException.of(Reason.UNAVAILABLE,
                                        "the secret can't be read now"))
                        .flatMap(secret -> Mono.fromCallable(() -> proof.by(secret))
                                .subscribeOn(Schedulers.boundedElastic()))
                        .flatMap(isProved -> {
                            StoredEvent event = found.event;
                            if (!isProved || event == null || event.secret().isEmpty()) {
                                count("forbidden");
                                return Mono.error(HandlerException.of(Reason.FORBIDDEN, WRONG));
                            }
                            return Mono.just(event);
                        }));
    }

    /** An event, if there is one. */
    private record Found(@Nullable StoredEvent event) {}

    /** Takes what has happened in an account. Errors: HandlerException RATE_LIMITED, OVERLOADED. */
    Mono<Outcome> take(String account, Happening happening) {
        return store.read(connection -> TriggerTable.of(connection, account, happening.event()))
                .flatMap(triggers -> Mono.fromCallable(() -> new Judgement(happening, triggers))
                        .subscribeOn(Schedulers.boundedElastic()))
                .flatMap(judged -> store.change(account,
                        connection -> taken(connection, account, happening, judged)))
                .doOnNext(outcome -> count(outcome.isRepeated()
                        ? "repeated"
                        : outcome.runs().isEmpty() ? "refused" : "started"))
                .onErrorMap(DeliveryTable.TooMany.class,
                        full -> HandlerException.of(Reason.RATE_LIMITED, String.valueOf(full.getMessage()))
                                .retryAfter(RETRY_WHEN_FULL))
                .onErrorMap(StoreException.Full.class,
                        full -> HandlerException.of(Reason.OVERLOADED, String.valueOf(full.getMessage()))
                                .retryAfter(RETRY_WHEN_FULL));
    }

    private void count(String outcome) {
        registry.counter("culvert.triggers.deliveries", "outcome", outcome).increment();
    }

    /** Takes all that one message tells, in order. Errors: as {@link #accept}. */
    public Mono<Outcome> takeAll(String account, List<Happening> happened) {
        return Flux.fromIterable(happened)
                .concatMap(each -> take(account, each))
                .collectList()
                .map(Outcome::of);
    }

    /** As {@link #take}, in a change of the account. For what one process of several does. */
    public Outcome taken(Connection change, String account, Happening happening) throws SQLException {
        List<StoredTrigger> triggers = TriggerTable.of(change, account, happening.event());
        return taken(change, account, happening, new Judgement(happening, triggers));
    }

    private Outcome taken(Connection change, String account, Happening happening, Judgement judged)
            throws SQLException {
        long now = store.now(change, clock);
        String named = happening.delivery();
        String delivery = named == null ? UUID.randomUUID().toString() : key(named);
        if (!DeliveryTable.add(change, account, happening.event(), delivery, now)) {
            return new Outcome(runs(RunTable.of(change, account, happening.event(), delivery)), List.of(),
                    true);
        }
        List<StoredTrigger> triggers = TriggerTable.of(change, account, happening.event());
        List<Outcome.Run> runs = new ArrayList<>();
        for (StoredTrigger trigger : judged.started(triggers)) {
            runs.add(new Outcome.Run(add(change, new StoredRun(account, "", happening.event(), delivery,
                    trigger.pipeline(), Variables.json(happening.variables()), state(), null, null, now)),
                    trigger.pipeline()));
        }
        List<String> refusals = judged.refusals(triggers);
        if (runs.isEmpty()) {
            RefusalTable.add(change, account, happening.event(), delivery, String.join("\n", refusals), now);
        }
        return new Outcome(runs, refusals, false);
    }

    private static String key(String delivery) {
        return delivery.length() <= MAX_DELIVERY ? delivery : delivery.substring(0, MAX_DELIVERY);
    }

    private static List<Outcome.Run> runs(List<StoredRun> runs) {
        return runs.stream().map(run -> new Outcome.Run(run.id(), run.pipeline())).toList();
    }

    private State state() {
        return pipelines.isOffered() ? State.WAITING : State.RECORDED;
    }

    /** Adds a run and the message that starts it. Returns its id. */
    private String add(Connection change, StoredRun run) throws SQLException {
        String id = RunTable.add(change, run);
        if (run.state() == State.WAITING) {
            outbox.add(change, run.account(), run.pipeline(), id);
        }
        feed.add(change, run.account(), KIND, id);
        return id;
    }

    /** Starts what a run has started, once more. Emits the new run's id. Errors: {@link StoreException}. */
    public Mono<StoredRun> replay(String account, String id) {
        return store.change(account, connection -> {
            StoredRun run = RunTable.find(connection, account, id);
            if (run == null) {
                throw new StoreException.Absent("no run has this id");
            }
            long now = store.now(connection, clock);
            String made = add(connection,
                    new StoredRun(account, "", run.event(), "replay " + UUID.randomUUID(), run.pipeline(),
                            run.variables(), state(), null, null, now));
            StoredRun found = RunTable.find(connection, account, made);
            if (found == null) {
                throw new IllegalStateException("a run that was added is absent");
            }
            return found;
        });
    }

    /** Delivers the message that starts a run. */
    private Mono<Void> start(OutboxEntry entry) {
        return store.read(connection -> new Waiting(RunTable.find(connection, entry.account(), entry.body())))
                .flatMap(waiting -> {
                    StoredRun run = waiting.run;
                    return run == null || run.state() != State.WAITING ? Mono.<Void>empty() : start(run);
                });
    }

    /** A run, if it is there still. */
    private record Waiting(@Nullable StoredRun run) {}

    private Mono<Void> start(StoredRun run) {
        return Mono.defer(() -> pipelines.start(new PipelineRuns.Start(run.account(), run.pipeline(),
                Variables.parse(run.variables()), run.event(), run.id())))
                .flatMap(build -> ended(run, State.STARTED, build, null))
                .onErrorResume(HandlerException.class, failed -> switch (failed.reason()) {
                    case NOT_FOUND, BAD_REQUEST, FORBIDDEN ->
                        ended(run, State.REFUSED, null, failed.detail());
                    default -> Mono.error(failed);
                });
    }

    private Mono<Void> ended(StoredRun run, State state, @Nullable String build, @Nullable String why) {
        return store.change(run.account(), connection -> {
            RunTable.ended(connection, run.account(), run.id(), state, build, why);
            feed.add(connection, run.account(), KIND, run.id());
            return true;
        }).then();
    }
}
