package dev.culvert.server;

import dev.culvert.edge.EdgeException;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionListener;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.session.SessionEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session from its client's hello to its end, kept in step with the registry. Drained when the client's certificate
 * ends before the client has proven another. On the session's event loop.
 */
final class ServerSession implements SessionListener {
    private static final Logger log = LoggerFactory.getLogger(ServerSession.class);

    private final Shared shared;
    private final RegisteredRuntime runtime;
    private final String remote;
    private final Hello.Nonce ownNonce;
    private Hello.@Nullable Nonce peerNonce;
    private Instant until;
    private @Nullable ScheduledFuture<?> ending;
    @Nullable
    TunnelChannelHandler handler;
    private @Nullable LiveSession live;

    /** What the sessions of a server share. */
    record Shared(RuntimeStore store, TunnelRegistry registry, RenewalService renewal, Clock clock) {}

    /**
     * Makes the listener of a session.
     *
     * @param remote the client's address, for people
     * @param ownNonce what the server's hello says
     * @param until when the client's certificate ends
     */
    ServerSession(Shared shared, RegisteredRuntime runtime, String remote, Hello.Nonce ownNonce,
            Instant until) {
        this.shared = shared;
        this.runtime = runtime;
        this.remote = remote.startsWith("/") ? remote.substring(1) : remote;
        this.ownNonce = ownNonce;
        this.until = until;
    }

    private TunnelChannelHandler handler() {
        return Objects.requireNonNull(handler);
    }

    @Override
    public void peerHello(Hello hello) {
        TunnelChannelHandler session = handler();
        peerNonce = hello.nonce();
        UUID id = UUID.randomUUID();
        LiveSession admitted = shared.registry.admit(runtime, hello,
                generation -> new LiveSession(id, runtime, hello,
                        generation, session, shared.clock.instant(), remote));
        if (admitted == null) {
            session.close(ErrorCode.CONFLICT, "another client serves this runtime");
            return;
        }
        live = admitted;
        if (shared.store.byIdentity(runtime.identity()) == null) {
            // Since the handshake: what closed the others may have missed this session.
            shared.registry.closeAll(runtime.id(),
                    "the runtime " + runtime.name() + " was deleted or revoked");
            return;
        }
        session.ready(id.getMostSignificantBits(), id.getLeastSignificantBits(), admitted.generation,
                runtime.name().toString(), runtime.host());
    }

    @Override
    public void live(SessionEvent.Live ready) {
        log.atInfo()
                .addKeyValue("runtime", runtime.name())
                .addKeyValue("generation", ready.generation())
                .addKeyValue("remote", remote)
                .log("session opened");
        endWithCertificate();
        shared.registry.held().wake(runtime.id());
    }

    /** Looks again when the certificate, as known now, has ended. */
    private void endWithCertificate() {
        long millis = Math.max(0, Duration.between(shared.clock.instant(), until).toMillis());
        ending = handler().eventLoop().schedule(this::certificateEnded, millis, TimeUnit.MILLISECONDS);
    }

    private void certificateEnded() {
        if (shared.clock.instant().isBefore(until)) {
            endWithCertificate();
        } else if (live != null) {
            log.atWarn()
                    .addKeyValue("runtime", runtime.name())
                    .addKeyValue("remote", remote)
                    .addKeyValue("ended", until)
                    .log("session drained, its certificate has ended");
            live.drain(ErrorCode.DRAINING, "the client certificate ended at " + until);
        }
    }

    @Override
    public void auth(SessionEvent.Auth auth) {
        shared.renewal
                .judge(auth.certificate(), auth.proof(), ownNonce, Objects.requireNonNull(peerNonce),
                        runtime.id())
                .subscribe(end -> handler().eventLoop().execute(() -> proven(end)),
                        error -> handler().eventLoop().execute(() -> refused(error)));
    }

    private void proven(Instant end) {
        until = end;
        log.atDebug()
                .addKeyValue("runtime", runtime.name())
                .addKeyValue("until", end)
                .log("certificate proven");
        handler().answerAuth(ErrorCode.NO_ERROR, "");
    }

    private void refused(Throwable error) {
        String reason = error instanceof EdgeException known
                ? known.problem().detail()
                : "it can't be judged";
        log.atWarn()
                .addKeyValue("runtime", runtime.name())
                .addKeyValue("remote", remote)
                .addKeyValue("reason", reason)
                .log("certificate refused on a live session");
        handler().answerAuth(ErrorCode.UNAUTHORIZED, reason);
    }

    @Override
    public void goingAway(SessionEvent.GoingAway goingAway) {
        if (live != null) {
            live.stopAccepting();
        }
    }

    @Override
    public void closed(SessionEvent.Closed closed) {
        if (ending != null) {
            ending.cancel(false);
        }
        if (live != null) {
            live.ended();
            shared.registry.remove(live);
            log.atInfo()
                    .addKeyValue("runtime", runtime.name())
                    .addKeyValue("code", closed.code())
                    .addKeyValue("detail", closed.detail())
                    .addKeyValue("byPeer", closed.byPeer())
                    .log("session closed");
        }
    }
}
