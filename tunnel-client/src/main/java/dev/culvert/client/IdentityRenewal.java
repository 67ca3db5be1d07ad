package dev.culvert.client;

import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Renews a client's certificate at two thirds of what is left of its life, a little earlier or later so that clients who
 * enrolled together do not renew together; tries again until it succeeds. One attempt at a time.
 */
final class IdentityRenewal {
    private static final Logger LOG = LoggerFactory.getLogger(IdentityRenewal.class);
    private static final Duration SHORTEST_RETRY = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETRY = Duration.ofMinutes(5);
    /** The contract's slow loop for what is refused. */
    private static final Duration REFUSED_RETRY = Duration.ofSeconds(60);

    private final IdentitySource source;
    private final Clock clock;
    private final TunnelLinks links;
    private final Disposable.Swap running = Disposables.swap();
    private final Disposable.Swap enrolment = Disposables.swap();
    private final AtomicBoolean enrolling = new AtomicBoolean();
    private volatile Credentials current;

    /** @param links prove and use each new identity */
    IdentityRenewal(IdentitySource source, Clock clock, Credentials first, TunnelLinks links) {
        this.source = source;
        this.clock = clock;
        this.current = first;
        this.links = links;
    }

    /** The newest. */
    Credentials current() {
        return current;
    }

    /** Begins to renew when it is time. */
    void start() {
        double part = ThreadLocalRandom.current().nextDouble(0.62, 0.67);
        renewAfter(Duration.ofMillis((long) (Math.max(0, left().toMillis()) * part)));
    }

    void stop() {
        running.dispose();
        enrolment.dispose();
    }

    /**
     * The server does not accept the identity, because its runtime was deleted or it was revoked: a token that the
     * operator has put into place since then gives another. Called as often as that is heard.
     */
    void refused() {
        if (source.hasToken() && enrolling.compareAndSet(false, true)) {
            enrolment.update(source.enrolledAnew(current.identity())
                    .publishOn(Schedulers.boundedElastic())
                    .map(Credentials::of)
                    .doFinally(signal -> enrolling.set(false))
                    .subscribe(this::enrolled, error -> LOG.atInfo()
                            .addKeyValue("reason", error.getMessage())
                            .log("the enrolment token gives no other identity")));
        }
    }

    private void enrolled(Credentials next) {
        current = next;
        links.dialNow();
        start();
    }

    private Duration left() {
        return Duration.between(clock.instant(), current.identity().expires());
    }

    private void renewAfter(Duration delay) {
        running.update(Mono.delay(delay)
                .then(Mono.defer(() -> source.renewed(current.identity())))
                .publishOn(Schedulers.boundedElastic())
                .map(Credentials::of)
                .subscribe(this::renewed, this::failed));
    }

    private void renewed(Credentials next) {
        current = next;
        links.prove();
        start();
    }

    private void failed(Throwable error) {
        Duration retry = error instanceof EnrolmentException.Refused ? REFUSED_RETRY : soon();
        LOG.atWarn()
                .addKeyValue("reason", error.getMessage())
                .addKeyValue("expires", current.identity().expires())
                .addKeyValue("retryInMillis", retry.toMillis())
                .log("certificate not renewed");
        renewAfter(retry);
    }

    /** A tenth of what is left, within bounds, half of it random. */
    private Duration soon() {
        long tenth = Math.clamp(left().toMillis() / 10, SHORTEST_RETRY.toMillis(), LONGEST_RETRY.toMillis());
        return Duration.ofMillis(tenth / 2 + ThreadLocalRandom.current().nextLong(tenth / 2 + 1));
    }
}
