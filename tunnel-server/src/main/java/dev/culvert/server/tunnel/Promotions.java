package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.server.tunnel.Ownership.Step;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the steps that {@link Ownership} decides: promotes instances that wait and lets former owners go. All
 * methods are called with the tunnel's lock held.
 */
final class Promotions {
    private static final Logger log = LoggerFactory.getLogger(Promotions.class);

    /** The time in which a client has to answer its promotion. Two fit into the time of a held request. */
    static final Duration ANSWER = Duration.ofSeconds(2);

    private final LongSupplier generations;
    private final Drain drain;
    private final LongAdder answered = new LongAdder();
    private final LongAdder unanswered = new LongAdder();

    /** Drains a session of a former owner. */
    @FunctionalInterface
    interface Drain {
        void drain(LiveSession session, ErrorCode code, String detail);
    }

    Promotions(LongSupplier generations, Drain drain) {
        this.generations = generations;
        this.drain = drain;
    }

    /** Notices that the owner takes no streams any more, and takes the steps that are due. */
    void settle(Tunnel tunnel) {
        UUID owner = tunnel.ownership.owner();
        if (owner != null && !tunnel.serves(owner)) {
            tunnel.ownership.gone(owner);
        }
        run(tunnel);
    }

    private void run(Tunnel tunnel) {
        for (Step step : tunnel.ownership.steps()) {
            switch (step) {
                case Step.Promote promote -> promote(tunnel, promote.instance());
                case Step.LetGo letGo -> letGo(tunnel, letGo);
                case Step.Recall recall -> {
                    WaitingSession session = tunnel.standby.get(recall.instance());
                    if (session != null) {
                        tunnel.forget(session);
                        session.close(ErrorCode.CONFLICT, TunnelRegistry.TAKEN_OVER);
                    }
                }
            }
        }
    }

    private void promote(Tunnel tunnel, UUID instance) {
        WaitingSession session = tunnel.standby.get(instance);
        if (session == null) {
            throw new IllegalStateException("an instance waits without a session");
        }
        long generation = generations.getAsLong();
        log.atInfo()
                .addKeyValue("runtime", session.runtime.name())
                .addKeyValue("generation", generation)
                .addKeyValue("remote", session.remote)
                .addKeyValue("priority", session.hello.standby())
                .log("client promoted");
        session.promote(generation, () -> expired(tunnel, session));
    }

    private void expired(Tunnel tunnel, WaitingSession session) {
        synchronized (tunnel) {
            unanswered.increment();
            log.atWarn()
                    .addKeyValue("runtime", session.runtime.name())
                    .addKeyValue("remote", session.remote)
                    .log("client did not answer its promotion");
            session.close(ErrorCode.TIMEOUT, "the promotion was not answered in time");
            ended(tunnel, session);
        }
    }

    /** A session that waited has ended, or ends. */
    void ended(Tunnel tunnel, WaitingSession session) {
        if (tunnel.forget(session) && !session.instance.equals(tunnel.ownership.owner())) {
            tunnel.ownership.gone(session.instance);
        }
        settle(tunnel);
    }

    /** A client has answered its promotion. Returns false if another instance owns the tunnel by now. */
    boolean answered(Tunnel tunnel, WaitingSession session) {
        if (!tunnel.forget(session) || !tunnel.ownership.answered(session.instance)) {
            return false;
        }
        answered.increment();
        tunnel.generation = Math.max(tunnel.generation, session.generation);
        return true;
    }

    private void letGo(Tunnel tunnel, Step.LetGo letGo) {
        String detail = letGo.code() == ErrorCode.REPLACED
                ? TunnelRegistry.TAKEN_OVER
                : "the client asked to leave, and no other one waits";
        for (LiveSession session : tunnel.sessions) {
            if (letGo.instance().equals(WaitingSession.instanceOf(session.hello))) {
                drain.drain(session, letGo.code(), detail);
            }
        }
    }

    /** The number of promotions that were answered, since the start. */
    long answered() {
        return answered.sum();
    }

    /** The number of promotions that were not answered in time, since the start. */
    long unanswered() {
        return unanswered.sum();
    }
}
