package dev.culvert.client.link;

import dev.culvert.client.identity.Credentials;
import dev.culvert.client.identity.IdentitySource;
import dev.culvert.client.identity.RenewalTimes;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Renews a client's certificate at the times of {@link RenewalTimes}. Retries until it succeeds. One attempt
 * at a time.
 */
public final class IdentityRenewal {
    private static final Logger LOG = LoggerFactory.getLogger(IdentityRenewal.class);

    private final IdentitySource source;
    private final RenewalTimes times;
    private final TunnelLinks links;
    private final Disposable.Swap running = Disposables.swap();
    private final Disposable.Swap enrolment = Disposables.swap();
    private final AtomicBoolean enrolling = new AtomicBoolean();
    private volatile Credentials current;

    /** @param links the connections, which prove and use each new identity */
    public IdentityRenewal(IdentitySource source, Clock clock, Credentials first, TunnelLinks links) {
        this.source = source;
        this.times = new RenewalTimes(clock, new SecureRandom());
        this.current = first;
        this.links = links;
    }

    /** The newest credentials. */
    public Credentials current() {
        return current;
    }

    /** Schedules the renewals. */
    public void start() {
        renewAfter(times.ofStored(current.identity()));
    }

    public void stop() {
        running.dispose();
        enrolment.dispose();
    }

    /**
     * Called each time the server refuses the identity, because its runtime was deleted or it was revoked.
     * Enrols with a token that the operator has provided since then.
     */
    public void refused() {
        if (source.hasToken() && enrolling.compareAndSet(false, true)) {
            enrolment.update(source.enrolledAnew(current.identity())
                    .publishOn(Schedulers.boundedElastic())
                    .map(source::credentials)
                    .doFinally(signal -> enrolling.set(false))
                    .subscribe(this::enrolled, error -> LOG.atInfo()
                            .addKeyValue("reason", error.getMessage())
                            .log("the enrolment token gives no other identity")));
        }
    }

    private void enrolled(Credentials next) {
        current = next;
        links.dialNow();
        renewAfter(times.ofNew(next.identity()));
    }

    private void renewAfter(Duration delay) {
        running.update(Mono.delay(delay)
                .then(Mono.defer(() -> source.renewed(current.identity())))
                .publishOn(Schedulers.boundedElastic())
                .map(source::credentials)
                .subscribe(this::renewed, this::failed));
    }

    private void renewed(Credentials next) {
        current = next;
        links.prove();
        renewAfter(times.ofNew(next.identity()));
    }

    private void failed(Throwable error) {
        Duration retry = times.afterFailure(current.identity(), error);
        LOG.atWarn()
                .addKeyValue("reason", error.getMessage())
                .addKeyValue("expires", current.identity().expires())
                .addKeyValue("retryInMillis", retry.toMillis())
                .log("certificate not renewed");
        renewAfter(retry);
    }
}
