package dev.culvert.appproxy.access;

import dev.culvert.http.net.CoalescingRunner;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Looks for what changed at the control plane: every few seconds, and at once when it is nudged. Whatever changed, all that
 * is remembered is dropped: changes are rare, and asking anew is cheap. Ten looks a second at most, however often it is nudged.
 */
final class ChangeFeed {
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final String LOOK = "look";
    private static final Logger log = LoggerFactory.getLogger(ChangeFeed.class);

    private final AccessDirectory directory;
    private final Mono<Void> reload;
    private final Runnable forget;
    private final @Nullable URI publicUrl;
    private final CoalescingRunner turns = new CoalescingRunner(PAUSE);
    private final Disposable.Swap polling = Disposables.swap();
    private final Sinks.Empty<Void> stopped = Sinks.empty();
    /** What follows is of the look under way, of which there is one. */
    private volatile long since = -1;
    private volatile boolean registered;
    private volatile boolean failing;

    /**
     * @param reload before each look
     * @param forget when something changed
     * @param publicUrl where the control plane reaches this App-Proxy; null: nowhere
     */
    ChangeFeed(AccessDirectory directory, Mono<Void> reload, Runnable forget, @Nullable URI publicUrl) {
        this.directory = directory;
        this.reload = reload;
        this.forget = forget;
        this.publicUrl = publicUrl;
    }

    void start(Duration poll) {
        polling.update(Flux.interval(Duration.ZERO, poll).onBackpressureDrop().subscribe(tick -> nudge()));
    }

    /** Looks no more, and leaves the look under way. */
    void stop() {
        polling.dispose();
        stopped.tryEmitEmpty();
    }

    /** Looks now, or as soon as the look under way has ended. Returns at once. */
    void nudge() {
        turns.run(LOOK, look());
    }

    /** Whether the first look has ended: from then on answers are dropped for a change only. On any thread. */
    boolean isFollowing() {
        return since >= 0;
    }

    /** One look. Never fails. */
    Mono<Void> look() {
        return reload.then(Mono.defer(this::register))
                .then(Mono.defer(this::read))
                .doOnSuccess(done -> recovered())
                .onErrorResume(failed -> {
                    registered = false;
                    lost(failed);
                    return Mono.<Void>empty();
                })
                .takeUntilOther(stopped.asMono());
    }

    private Mono<Void> register() {
        if (publicUrl == null || registered) {
            return Mono.empty();
        }
        return directory.reachableAt(publicUrl).doOnNext(taken -> {
            registered = true;
            if (!taken) {
                log.atWarn()
                        .addKeyValue("url", publicUrl)
                        .log("the control plane does not tell of changes at once: its nudge.allow does not cover publicUrl");
            }
        }).then();
    }

    private Mono<Void> read() {
        return directory.changes(since).flatMap(changes -> {
            if (since < 0 || changes.reset() || !changes.changes().isEmpty()) {
                forget.run();
            }
            since = changes.next();
            return changes.more() ? read() : Mono.empty();
        });
    }

    private void recovered() {
        if (failing) {
            failing = false;
            log.atInfo().log("control plane is back");
        }
    }

    private void lost(Throwable failed) {
        if (!failing) {
            failing = true;
            log.atWarn()
                    .addKeyValue("reason", failed.getMessage())
                    .log("control plane is away: what is remembered serves until its time is over");
        }
    }
}
