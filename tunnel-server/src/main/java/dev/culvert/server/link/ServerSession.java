package dev.culvert.server.link;

import dev.culvert.certs.CertsException;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionListener;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.relay.listen.CallerAddress;
import dev.culvert.relay.listen.ConnectionPlace;
import dev.culvert.relay.listen.HandshakeFairness;
import dev.culvert.relay.tls.TlsLink;
import dev.culvert.server.enrol.RenewalService;
import dev.culvert.server.enrol.RenewalService.Proven;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.tunnel.LiveSession;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.server.tunnel.SessionVerdict;
import dev.culvert.server.tunnel.TunnelRegistry;
import dev.culvert.server.tunnel.WaitingSession;
import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session from its client's hello to its end. Registers the session with the registry, as serving or as
 * waiting, and removes it. Drains the session when the client's certificate expires before the client has
 * proven another. Runs on the session's event loop.
 */
public final class ServerSession implements SessionListener {
    private static final Logger log = LoggerFactory.getLogger(ServerSession.class);

    private static final String FULL = "too many certificates wait to be judged; try again later";

    private final Shared shared;
    private final Channel channel;
    private final String remote;
    private final String host;
    private final Hello.Nonce ownNonce;
    private @Nullable Hello peerHello;
    private @Nullable Proven proven;
    private @Nullable ScheduledFuture<?> ending;
    /** Whether a renewed certificate waits for its verdict. */
    private boolean judging;
    /** Whether the certificate ended meanwhile. */
    private boolean ended;
    @Nullable
    TunnelChannelHandler handler;
    private @Nullable LiveSession live;
    /** The session while another instance owns the runtime. */
    private @Nullable WaitingSession waiting;
    /** Whether the session is closed. Verdicts that arrive afterwards are ignored. */
    private boolean over;

    /**
     * The dependencies that all sessions of a server share.
     *
     * @param windows lends the bytes by which the windows of callers' response bodies grow
     */
    public record Shared(RuntimeStore store, TunnelRegistry registry, RenewalService renewal,
            ServerEvents events, Told told, RuntimeWindows windows, Clock clock) {}

    /** Receives notifications of sessions. Called on event loops; must not block. */
    public interface Told {
        /** A session of the runtime is live: streams can be opened. */
        void live(RegisteredRuntime runtime);

        /** The runtime's client announced {@code document}. */
        void announced(RegisteredRuntime runtime, byte[] document);
    }

    /**
     * Makes the listener of a session.
     *
     * @param channel its connection
     * @param host the server's name from the client's request
     * @param ownNonce the nonce in the server's hello
     * @param proven the runtime of the client's certificate, or null when the client has yet to prove it
     */
    ServerSession(Shared shared, Channel channel, String host, Hello.Nonce ownNonce,
            @Nullable Proven proven) {
        this.shared = shared;
        this.channel = channel;
        String remote = String.valueOf(channel.remoteAddress() instanceof InetSocketAddress
                ? CallerAddress.of(channel)
                : channel.remoteAddress());
        this.remote = remote.startsWith("/") ? remote.substring(1) : remote;
        this.host = host;
        this.ownNonce = ownNonce;
        this.proven = proven;
    }

    private Proven proven() {
        return Objects.requireNonNull(proven);
    }

    private RegisteredRuntime runtime() {
        return proven().runtime();
    }

    private TunnelChannelHandler handler() {
        return Objects.requireNonNull(handler);
    }

    @Override
    public void peerHello(Hello hello) {
        peerHello = hello;
        if (proven != null) {
            admit(hello);
        } else if ((hello.capabilities() & Hello.PROOF) == 0) {
            handler().close(ErrorCode.UNAUTHORIZED,
                    "TLS carried no client certificate, and this client can't prove one in its first frames");
        }
    }

    private void admit(Hello hello) {
        TunnelChannelHandler session = handler();
        RegisteredRuntime runtime = runtime();
        if (isGone(runtime)) {
            session.close(ErrorCode.UNAUTHORIZED, gone(runtime));
            return;
        }
        UUID id = UUID.randomUUID();
        boolean waits = hello.waits() && session.bothCan(Hello.STANDBY);
        SessionVerdict admission = shared.registry.admit(runtime,
                waits ? hello : hello.withStandby(Hello.NO_STANDBY), new TunnelRegistry.Sessions() {
                    @Override
                    public LiveSession live(long generation) {
                        return serving(id, hello, generation);
                    }

                    @Override
                    public WaitingSession waiting() {
                        return new WaitingSession(id, runtime, hello, session, shared.clock.instant(),
                                remote);
                    }
                });
        switch (admission) {
            case SessionVerdict.Refused refused -> {
                shared.registry.refused(runtime, hello, remote);
                session.close(ErrorCode.CONFLICT, refused.reason());
                return;
            }
            case SessionVerdict.Serves serves -> live = serves.session();
            case SessionVerdict.Waits waiter -> waiting = waiter.session();
        }
        if (isGone(runtime)) {
            // Revoked since the first check: closeAll may have missed this session. Sessions admitted later
            // may be valid.
            session.close(ErrorCode.UNAUTHORIZED, gone(runtime));
            return;
        }
        session.windowsOf(shared.windows.of(runtime.id()));
        switch (admission) {
            case SessionVerdict.Serves serves -> session.ready(id.getMostSignificantBits(),
                    id.getLeastSignificantBits(), serves.session().generation, runtime.name().toString(),
                    runtime.host());
            case SessionVerdict.Waits waiter -> {
                session.await(id.getMostSignificantBits(), id.getLeastSignificantBits(), waiter.owned(),
                        runtime.name().toString(), runtime.host());
                waits(waiter.owned());
            }
            case SessionVerdict.Refused refused -> throw new IllegalStateException("refused before");
        }
    }

    private LiveSession serving(UUID id, Hello hello, long generation) {
        return new LiveSession(id, runtime(), hello, generation, handler(), shared.clock.instant(), remote,
                TlsLink.agreed(channel));
    }

    private void waits(long owned) {
        log.atInfo()
                .addKeyValue("runtime", runtime().name())
                .addKeyValue("remote", remote)
                .addKeyValue("owner", owned)
                .log("client waits for this runtime");
        established();
        endWithCertificate();
    }

    /** The connection is set up: it holds no place of those that are being opened any more. */
    private void established() {
        ConnectionPlace place = ConnectionPlace.of(channel);
        place.busy();
        place.served();
        SessionAdmission.opened(channel);
        LoopPlacement.opened(channel);
        HandshakeFairness.over(channel);
    }

    /** Whether the runtime was deleted or revoked since its certificate was judged. */
    private boolean isGone(RegisteredRuntime runtime) {
        return shared.store.byIdentity(runtime.identity()) == null;
    }

    private static String gone(RegisteredRuntime runtime) {
        return "the runtime " + runtime.name() + " was deleted or revoked";
    }

    @Override
    public void live(SessionEvent.Live ready) {
        WaitingSession waited = waiting;
        if (waited != null) {
            waited.ended();
            live = shared.registry.promoted(waited,
                    generation -> serving(waited.id, Objects.requireNonNull(peerHello), generation));
            if (live == null) {
                handler().close(ErrorCode.CONFLICT, "another client serves this runtime by now");
                return;
            }
        }
        log.atInfo()
                .addKeyValue("runtime", runtime().name())
                .addKeyValue("generation", ready.generation())
                .addKeyValue("remote", remote)
                .log("session opened");
        established();
        if (live != null) {
            live.provenUntil(proven().until());
            shared.events.publish(ServerEvent.Kind.CONNECTED, live, null);
        }
        if (ending == null) {
            endWithCertificate();
        }
        if (runtime().connected() == null) {
            shared.store.connected(runtime().identity())
                    .subscribe(nothing -> {}, error -> log.atWarn()
                            .addKeyValue("runtime", runtime().name())
                            .addKeyValue("reason", error.getMessage())
                            .log("the runtime's first connection could not be stored"));
        }
        shared.registry.held().wake(runtime().id());
        shared.told.live(runtime());
        if (live != null) {
            shared.registry.opened(live);
        }
    }

    /** Schedules a check for the end of the certificate, as known now. */
    private void endWithCertificate() {
        long millis = Math.max(0, Duration.between(shared.clock.instant(), proven().until()).toMillis());
        ending = handler().eventLoop().schedule(this::certificateEnded, millis, TimeUnit.MILLISECONDS);
    }

    private void certificateEnded() {
        if (shared.clock.instant().isBefore(proven().until())) {
            endWithCertificate();
        } else if (judging) {
            ended = true; // the verdict decides
        } else if (live == null) {
            handler().goAway(ErrorCode.DRAINING, 0, "the client certificate ended at " + proven().until());
        } else {
            log.atWarn()
                    .addKeyValue("runtime", runtime().name())
                    .addKeyValue("remote", remote)
                    .addKeyValue("ended", proven().until())
                    .log("session drained, its certificate has ended");
            shared.registry.drain(live, ErrorCode.DRAINING,
                    "the client certificate ended at " + proven().until());
        }
    }

    @Override
    public void auth(SessionEvent.Auth auth) {
        Hello hello = Objects.requireNonNull(peerHello);
        if (proven == null) {
            if (!SessionAdmission.judge(channel)) {
                handler().close(ErrorCode.OVERLOADED, FULL);
                return;
            }
            shared.renewal.judgeOpening(auth.certificate(), auth.proof(), ownNonce, hello.nonce(), host)
                    .subscribe(first -> later(() -> {
                        proven = first;
                        admit(hello);
                    }), error -> later(() -> refusedFirst(error)));
            return;
        }
        judging = true;
        shared.renewal.judge(auth.certificate(), auth.proof(), ownNonce, hello.nonce(), runtime().id())
                .subscribe(end -> later(() -> proven(end)), error -> later(() -> refused(error)));
    }

    /**
     * Runs the continuation of an asynchronous verdict on the event loop, unless the session has ended
     * meanwhile.
     */
    private void later(Runnable work) {
        handler().eventLoop().execute(() -> {
            if (!over) {
                work.run();
            }
        });
    }

    private void refusedFirst(Throwable error) {
        log.atInfo()
                .addKeyValue("remote", remote)
                .addKeyValue("reason", reason(error))
                .log("client refused: its certificate proof is invalid");
        handler().close(code(error), reason(error));
    }

    /**
     * UNAUTHORIZED only for a verdict. A client whose proof could not be judged may try again with the same
     * certificate.
     */
    private static ErrorCode code(Throwable error) {
        return switch (error) {
            case EdgeException judged -> ErrorCode.UNAUTHORIZED;
            case CertsException unreadable -> ErrorCode.UNAUTHORIZED;
            default -> ErrorCode.OVERLOADED;
        };
    }

    private static String reason(Throwable error) {
        return switch (error) {
            case EdgeException known -> known.problem().detail();
            case CertsException unreadable -> String.valueOf(unreadable.getMessage());
            case RejectedExecutionException full -> FULL;
            default -> "the certificate can't be judged now; try again later";
        };
    }

    private void proven(Instant end) {
        proven = new Proven(runtime(), end);
        if (live != null) {
            live.provenUntil(end);
        }
        log.atDebug()
                .addKeyValue("runtime", runtime().name())
                .addKeyValue("until", end)
                .log("certificate proven");
        handler().answerAuth(ErrorCode.NO_ERROR, "");
        judged();
    }

    private void refused(Throwable error) {
        String reason = reason(error);
        log.atWarn()
                .addKeyValue("runtime", runtime().name())
                .addKeyValue("remote", remote)
                .addKeyValue("reason", reason)
                .log("certificate refused on a live session");
        handler().answerAuth(code(error), reason);
        judged();
    }

    private void judged() {
        judging = false;
        if (ended) {
            ended = false;
            certificateEnded();
        }
    }

    @Override
    public void announced(SessionEvent.Announced announced) {
        if (live != null && live.isAccepting()) { // announcements of a replaced session are ignored
            shared.told.announced(runtime(), announced.document());
        }
    }

    @Override
    public void goingAway(SessionEvent.GoingAway goingAway) {
        if (live != null) {
            shared.registry.stopped(live);
        }
    }

    @Override
    public void leaving() {
        if (live != null) {
            shared.registry.leaves(live);
        }
    }

    private static String cause(SessionEvent.Closed closed) {
        String detail = closed.detail();
        return (closed.byPeer() ? "by the client, " : "") + closed.code()
                + (detail == null || detail.isEmpty() ? "" : ": " + detail);
    }

    @Override
    public void closed(SessionEvent.Closed closed) {
        over = true;
        if (ending != null) {
            ending.cancel(false);
        }
        if (waiting != null) {
            waiting.ended();
            shared.registry.ended(waiting);
        }
        if (live != null) {
            live.ended();
            shared.registry.remove(live);
            shared.events.publish(ServerEvent.Kind.DISCONNECTED, live, cause(closed));
            log.atInfo()
                    .addKeyValue("runtime", runtime().name())
                    .addKeyValue("code", closed.code())
                    .addKeyValue("detail", closed.detail())
                    .addKeyValue("byPeer", closed.byPeer())
                    .log("session closed");
        }
    }
}
