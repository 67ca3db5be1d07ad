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
 * Polls the control plane for changes: every few seconds, and at once on a notification. Any change drops all
 * cached answers, because changes are rare and new queries are cheap. Polls at most ten times a second,
 * however many notifications arrive.
 */
final class ChangeFeed {
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final String LOOK = "look";
    private static final Logger log = LoggerFactory.getLogger(ChangeFeed.class);

    private final AccessDirectory directory;
    private final Mono<Void> reload;
    private final Runnable forget;
    private final @Nullable URI publicUrl;
    private final CoalescingRunner runner = new CoalescingRunner(PAUSE);
    private final Disposable.Swap polling = Disposables.swap();
    private final Sinks.Empty<Void> stopped = Sinks.empty();
    /**
     * The position of the next poll; negative before the first. This and the next fields belong to the poll
     * in flight, of which there is one at most.
     */
    private volatile long since = -1;
    private volatile boolean registered;
    private volatile boolean failing;

    /**
     * @param reload runs before each poll
     * @param forget runs after a change
     * @param publicUrl the URL at which the control plane reaches this App-Proxy; null: none
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

    /** Stops polling, and cancels the poll in flight. */
    void stop() {
        polling.dispose();
        stopped.tryEmitEmpty();
    }

    /** Polls now, or as soon as the poll in flight has ended. Returns at once. */
    void nudge() {
        runner.run(LOOK, look());
    }

    /**
     * Whether the first poll has ended. From then on only a change drops answers. Callable from any thread.
     */
    boolean isFollowing() {
        return since >= 0;
    }

    /** Polls once. Never fails. */
    Mono<Void> look() {
        return reload.then(Mono.defer(this::register))
                .then(Mono.defer(this::read))
                .doOnSuccess(done -> recovered())
                .onErrorResume(failed -> {
                    registered = false;
                    if (failed instanceof ControlPlaneAway away && away.isRefusal()) {
                        forget.run();
                    }
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
                        .log("the control plane does not send change notifications: its nudge.allow does not cover publicUrl");
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
            log.atInfo().log("control plane is reachable again");
        }
    }

    private void lost(Throwable failed) {
        if (!failing) {
            failing = true;
            log.atWarn()
                    .addKeyValue("reason", failed.getMessage())
                    .log("control plane can't be asked: cached answers, if any, are served until they expire");
        }
    }
}
