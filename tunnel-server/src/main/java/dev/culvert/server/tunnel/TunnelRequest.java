package dev.culvert.server.tunnel;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.quota.StreamPlace;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A caller's request on its way into a runtime's tunnel. It waits while the tunnel reconnects. It is sent
 * again when its session was lost before the request was touched, or before a safe request was answered. Runs
 * on the caller's event loop.
 *
 * <pre>
 *  WAITING ──session──► SENT ──response head──► ANSWERED ──► DONE
 *     ▲ │                 └──lost untouched, or safe──┐
 *     │ └──5 s──► DONE                                │
 *     └───────────────────────────────────────────────┘ at most three times
 * </pre>
 */
public final class TunnelRequest implements RequestSink {
    /**
     * The longest wait of a request for its tunnel, counted from its first wait, however often it is sent and
     * missed meanwhile.
     */
    static final Duration HOLD = Duration.ofSeconds(5);
    /**
     * The delay before a second attempt. The fault that broke one connection of a tunnel often breaks the
     * others a moment later.
     */
    static final Duration SETTLE = Duration.ofMillis(250);
    /** The time in which the request that lost its place to this one ends its stream. */
    public static final Duration YIELD = Duration.ofMillis(20);
    /**
     * The number of waits of {@link #YIELD} for a stream of a session whose streams are all in use: the
     * request has a place, and the one that left it ends its stream in a moment.
     */
    static final int MAX_YIELDS = 5;
    /** Methods whose repetition changes nothing (RFC 9110 §9.2.1). */
    private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS");
    /**
     * How often a safe request is sent again after its session was lost: one network cut may break a client's
     * connections one by one.
     */
    static final int MAX_SENT_AGAIN = 3;
    /**
     * The maximum number of sessions that were lost or drained before the request touched them. It covers all
     * connections of a client, of the client that replaces it, and of both after a network cut, because a
     * roll-out can end them all at once.
     */
    static final int MAX_MISSES = 16;

    private final TunnelRelay relay;
    private final RelayRequest request;
    private final ResponseSink response;
    private final boolean safe;
    private final ReplayBody replay;
    private final StreamPlace place;
    private final Runnable wake = this::woken;
    private @Nullable RequestSink target;
    private @Nullable ScheduledFuture<?> patience;
    private int attempts;
    private int misses;
    /** The request bytes that this attempt has passed on, and those that were reported to the caller. */
    private int passed;
    private int reported;
    private int sentAgain;
    private int yields;
    private boolean answered;
    private boolean done;
    /**
     * How far a failed attempt may have got. Written on the session's event loop before the failure is
     * reported here.
     */
    private Touched touched = Touched.YES;

    /** How far a failed attempt got. */
    enum Touched {
        /** The session was draining; the request was not sent. */
        MISSED,
        /** All streams of the session were in use; the request was not sent. */
        CROWDED,
        /** The client has not received the request, or reports that it has not touched it. */
        NO,
        /** The session was lost: unknown. */
        PERHAPS,
        /** The request has an outcome. */
        YES
    }

    TunnelRequest(TunnelRelay relay, RelayRequest request, ResponseSink response) {
        this.relay = relay;
        this.request = request;
        this.response = response;
        this.safe = SAFE.contains(String.valueOf(request.fields().method()));
        this.replay = new ReplayBody(relay.held(), request.ended());
        this.place = new StreamPlace(relay.streams(), request.ended());
    }

    /** Records how far the attempt that is about to fail got. */
    void touched(Touched how) {
        touched = how;
    }

    StreamPlace place() {
        return place;
    }

    /** Takes a place among the runtime's streams, and sends the request. */
    void enter() {
        if (!place.take(request.caller().account(), this::shed)) {
            finish();
            response.fail(relay.crowded());
        } else if (place.isAnothers()) {
            request.loop().schedule(this::beginUnlessDone, YIELD.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            begin();
        }
    }

    /** On any thread. */
    private void shed() {
        try {
            request.loop().execute(this::giveWay);
        } catch (RejectedExecutionException e) {
            // The loop has ended, and the caller's connection with it.
        }
    }

    private void giveWay() {
        if (!done && !place.isClosed()) {
            Problem why = relay
                    .crowded(
                            "the runtime has too many requests in flight: most are of this address, or this one was idle");
            cancel(why);
            response.fail(why);
        }
    }

    /** Sends the request, or holds it. */
    void begin() {
        LiveSession session = relay.pick(request.loop());
        if (session != null) {
            send(session);
        } else {
            hold();
        }
    }

    private void send(LiveSession session) {
        relay.held().remove(relay.runtimeId(), wake);
        int attempt = ++attempts;
        touched = Touched.YES;
        passed = 0;
        response.opened();
        response.carriedBy(session.tls);
        RequestSink opened = relay.open(session, request, new Answer(), this);
        if (attempt == attempts && !done) {
            target = opened;
            replay.sendTo(opened, !request.ended());
            if (answered) {
                replay.forget();
            }
        }
    }

    private void hold() {
        ScheduledFuture<?> running = patience;
        if (running != null && running.isDone()) {
            giveUp(); // the hold expired while a session had the request
            return;
        }
        if (!relay.isExpected() || !relay.held().add(relay.runtimeId(), wake)) {
            giveUp();
            return;
        }
        if (running == null) {
            patience = request.loop().schedule(this::giveUp, HOLD.toMillis(), TimeUnit.MILLISECONDS);
        }
        if (relay.pick(request.loop()) != null) {
            relay.held().remove(relay.runtimeId(), wake); // the tunnel came back meanwhile
            begin();
        }
    }

    private void woken() {
        request.loop().execute(this::beginUnlessDone);
    }

    private void beginUnlessDone() {
        if (!done && target == null) {
            begin();
        }
    }

    private void stopWaiting() {
        ScheduledFuture<?> running = patience;
        if (running != null) {
            patience = null;
            running.cancel(false);
            relay.held().remove(relay.runtimeId(), wake);
        }
    }

    private void giveUp() {
        if (!done && target == null) {
            finish();
            response.fail(touched == Touched.PERHAPS
                    ? Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL,
                            "the tunnel was lost and did not come back in time")
                    : relay.noTunnel());
        }
    }

    private void finish() {
        done = true;
        stopWaiting();
        replay.forget();
        place.close();
    }

    // ---- the request ----

    @Override
    public void data(ByteBuf body) {
        if (done) {
            body.release();
            return;
        }
        place.touch();
        replay.add(body);
        RequestSink to = target;
        if (to != null) {
            to.data(body);
            return;
        }
        body.release();
        requireKept();
    }

    /** Fails a request without a session whose body is not kept completely. */
    private void requireKept() {
        if (!replay.isComplete()) {
            finish();
            response.fail(
                    Problem.of(Cause.OVERLOADED, Hop.TUNNEL, "too many bytes wait for tunnels to come back")
                            .retryAfter(TunnelRelay.RETRY_NO_TUNNEL));
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        replay.end(trailers);
        place.requestEnded();
        RequestSink to = target;
        if (to != null) {
            to.end(trailers);
        } else if (!done) {
            requireKept();
        }
    }

    @Override
    public void cancel(Problem reason) {
        finish();
        RequestSink to = target;
        if (to != null) {
            to.cancel(reason);
        }
    }

    /** The caller consumed bytes of the response's body. */
    @Override
    public void consumed(int bytes) {
        place.touch();
        RequestSink to = target;
        if (to != null) {
            to.consumed(bytes);
        }
    }

    /** The response side. It is a separate class because the methods of both sides have the same names. */
    private final class Answer implements ResponseSink {
        @Override
        public void times(int routerMicros, int upstreamMicros) {
            response.times(routerMicros, upstreamMicros);
        }

        @Override
        public void informational(Http2Headers head) {
            response.informational(head);
        }

        @Override
        public void head(Http2Headers head, boolean ended) {
            answered = true;
            replay.forget();
            place.answered();
            if (ended) {
                place.responseEnded();
            }
            response.head(head, ended);
        }

        @Override
        public void data(ByteBuf body) {
            place.touch();
            response.data(body);
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            place.responseEnded();
            response.end(trailers);
        }

        @Override
        public void fail(Problem problem) {
            if (done) {
                return;
            }
            if (!answered && mayBeSentAgain()) {
                sentAgain += touched == Touched.PERHAPS ? 1 : 0;
                attempts++; // a send() that is still opening must not keep the failed one
                target = null;
                if (touched == Touched.CROWDED) {
                    request.loop()
                            .schedule(TunnelRequest.this::beginUnlessDone, YIELD.toMillis(),
                                    TimeUnit.MILLISECONDS);
                } else if (touched == Touched.PERHAPS) {
                    stopWaiting(); // it had its tunnel, so its wait for the next one starts anew
                    request.loop()
                            .schedule(TunnelRequest.this::beginUnlessDone, SETTLE.toMillis(),
                                    TimeUnit.MILLISECONDS);
                } else {
                    begin();
                }
            } else {
                finish();
                response.fail(touched == Touched.CROWDED ? relay.crowded() : problem);
            }
        }

        @Override
        public void ending(Problem problem) {
            response.ending(problem);
        }

        /** Reports each byte once: bytes that an earlier attempt has passed on are not reported again. */
        @Override
        public void consumed(int bytes) {
            place.touch();
            passed += bytes;
            if (passed > reported) {
                int news = passed - reported;
                reported = passed;
                response.consumed(news);
            }
        }
    }

    private boolean mayBeSentAgain() {
        return replay.isComplete() && switch (touched) {
            case CROWDED -> ++yields <= MAX_YIELDS;
            case MISSED, NO -> ++misses < MAX_MISSES;
            case PERHAPS -> safe && sentAgain < MAX_SENT_AGAIN;
            case YES -> false;
        };
    }
}
