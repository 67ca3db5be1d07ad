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
 * Whose certificate a live session rests on. Proves a newer one in band, one at a time; one that the server does not accept
 * is proven again after {@link Backoff#afterRefusal}, and until then the session goes on with the one before. Belongs to the
 * session's event loop.
 */
public final class SessionIdentity {
    private static final Logger log = LoggerFactory.getLogger(SessionIdentity.class);

    private final Supplier<Identity> newest;
    private final EventLoop loop;
    private final Backoff backoff;
    private final Wire wire;
    private Identity accepted;
    /** Its proof is being made, or under way. */
    private @Nullable Identity asked;
    private @Nullable ScheduledFuture<?> again;
    private boolean ended;

    /** The session, as far as it proves. */
    public interface Wire {
        /** The proof for this session. May emit on another thread. */
        Mono<SessionProof> proofOf(Identity identity);

        /** Sends it. Returns false when that is not possible now. */
        boolean auth(SessionProof proof);
    }

    /** @param first what the session began with */
    public SessionIdentity(Identity first, Supplier<Identity> newest, EventLoop loop, Backoff backoff,
            Wire wire) {
        this.accepted = first;
        this.newest = newest;
        this.loop = loop;
        this.backoff = backoff;
        this.wire = wire;
    }

    /** What the session rests on. */
    public Identity accepted() {
        return accepted;
    }

    /** Proves the newest, unless the session rests on that, or is about to. */
    public void prove() {
        Identity wanted = newest.get();
        if (ended || asked != null || wanted.equals(accepted)) {
            return;
        }
        asked = wanted;
        wire.proofOf(wanted).subscribe(proof -> loop.execute(() -> send(proof)), error -> {
            log.atError().setCause(error).log("certificate can't be proven");
            loop.execute(this::later);
        });
    }

    private void send(SessionProof proof) {
        if (!wire.auth(proof)) {
            later();
        }
    }

    /** What the server thinks of the proof. */
    public void answered(SessionEvent.AuthAnswer answer) {
        Identity proven = asked;
        if (proven == null) {
            return;
        }
        if (answer.code() == ErrorCode.NO_ERROR) {
            accepted = proven;
            asked = null;
            prove(); // another one may have come meanwhile
            return;
        }
        log.atWarn()
                .addKeyValue("reason", answer.detail())
                .log("renewed certificate refused, the session goes on with the one before");
        later();
    }

    private void later() {
        asked = null;
        if (again == null && !ended) {
            again = loop.schedule(this::retry, backoff.afterRefusal().toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void retry() {
        again = null;
        prove();
    }

    /** The session is over. */
    public void end() {
        ended = true;
        if (again != null) {
            again.cancel(false);
        }
    }
}
