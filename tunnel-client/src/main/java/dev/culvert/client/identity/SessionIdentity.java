package dev.culvert.client.identity;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.session.SessionEvent;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The identity that a live session uses. Proves a newer certificate in band, one at a time. If the server
 * does not accept it, proves the newest one again after {@link RenewalTimes#afterProof}; until then the
 * session continues with the previous one. The server answers each proof, or the session ends. Confined to
 * the session's event loop.
 */
public final class SessionIdentity {
    private static final Logger log = LoggerFactory.getLogger(SessionIdentity.class);

    private final Supplier<Identity> newest;
    private final EventLoop loop;
    private final RenewalTimes times;
    private final Wire wire;
    private Identity accepted;
    /** The identity whose proof is being created or was sent. */
    private @Nullable Identity asked;
    private @Nullable ScheduledFuture<?> again;
    private boolean ended;

    /** The operations of the session for proofs. */
    public interface Wire {
        /** Creates the proof for this session. May emit on another thread. */
        Mono<SessionProof> proofOf(Identity identity);

        /** Sends a proof. Returns false if that is not possible now. */
        boolean auth(SessionProof proof);
    }

    /** @param first the identity with which the session began */
    public SessionIdentity(Identity first, Supplier<Identity> newest, EventLoop loop, RenewalTimes times,
            Wire wire) {
        this.accepted = first;
        this.newest = newest;
        this.loop = loop;
        this.times = times;
        this.wire = wire;
    }

    /** The identity that the session uses. */
    public Identity accepted() {
        return accepted;
    }

    /** Whether there is a newer identity than the one that the session uses. */
    public boolean isOld() {
        return !ended && !newest.get().equals(accepted);
    }

    /** Proves the newest identity, unless the session uses it or its proof is in progress. */
    public void prove() {
        Identity wanted = newest.get();
        if (ended || asked != null || wanted.equals(accepted)) {
            return;
        }
        asked = wanted;
        wire.proofOf(wanted).subscribe(proof -> loop.execute(() -> send(proof)), error -> {
            log.atError().setCause(error).log("certificate can't be proven");
            loop.execute(() -> later(false));
        });
    }

    private void send(SessionProof proof) {
        if (!wire.auth(proof)) {
            later(false);
        }
    }

    /** Handles the server's answer to the proof. */
    public void answered(SessionEvent.AuthAnswer answer) {
        Identity proven = asked;
        if (proven == null) {
            return;
        }
        if (answer.code() == ErrorCode.NO_ERROR) {
            accepted = proven;
            asked = null;
            prove(); // there may be a newer one by now
            return;
        }
        log.atWarn()
                .addKeyValue("reason", answer.detail())
                .log("renewed certificate refused, the session continues with the previous one");
        later(answer.code() == ErrorCode.UNAUTHORIZED);
    }

    /** @param refused whether the server has judged the certificate */
    private void later(boolean refused) {
        asked = null;
        if (again == null && !ended) {
            again = loop.schedule(this::retry, times.afterProof(accepted, refused).toMillis(),
                    TimeUnit.MILLISECONDS);
        }
    }

    private void retry() {
        again = null;
        prove();
    }

    /** Called when the session has ended. */
    public void end() {
        ended = true;
        if (again != null) {
            again.cancel(false);
        }
    }
}
