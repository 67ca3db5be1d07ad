package dev.culvert.relay.inbound.raw;

import dev.culvert.http.problem.Problem;
import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.exchange.EdgeProblems;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.exchange.ResponseBody;
import dev.culvert.relay.quota.BudgetedBytes;
import dev.culvert.relay.quota.PacedBody;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one raw connection in both directions: counted, paced, and limited by the runtime's quotas as
 * bodies are. Each direction ends separately. A failure of one direction resets both. Belongs to the
 * connection's event loop.
 */
final class RawExchange implements ResponseSink {
    private final RawConnection connection;
    private final EdgeRuntimes.RuntimeEndpoint runtime;
    private final BudgetedBytes held;
    private final ResponseBody toCaller;
    private final LongAdder open;
    private @Nullable PacedBody toUpstream;
    private @Nullable RequestSink sink;
    private int unforwarded;
    /**
     * Bytes read beyond the limit: when a peer closes its half, Netty's epoll reads everything that the
     * kernel holds.
     */
    private final BodyQueue backlog = new BodyQueue();
    private int backlogBytes;
    /** Bytes of the upstream were forwarded, so an alert would be inside its stream. */
    private boolean answered;
    /**
     * The end of the caller's half, in order: the caller closed it; it was queued after all bytes; the
     * upstream's side received it.
     */
    private boolean callerEnded;
    private boolean callerEndSent;
    private boolean callerEndTold;
    /**
     * The end of the upstream's half, in order: the upstream closed it; the caller's socket was half-closed
     * after all bytes.
     */
    private boolean upstreamEnded;
    private boolean upstreamEndTold;
    private boolean over;

    RawExchange(RawConnection connection, EdgeRuntimes.RuntimeEndpoint runtime) {
        this.connection = connection;
        this.runtime = runtime;
        this.held = new BudgetedBytes(connection.loop(), this::report, () -> abandon(EdgeProblems.GAVE_WAY));
        this.toCaller = new ResponseBody(connection, held, () -> {}, this::cutReader);
        this.open = connection.shared().meters().tcpBegin(runtime.name());
        held.of(runtime.quota().memory(), connection.caller());
    }

    void open(RelayRequest request) {
        RequestSink opened = runtime.relay().open(request, this);
        if (!over) {
            sink = opened;
        }
    }

    // ---- from the caller ----

    /** Receives bytes of the caller and takes ownership of them. */
    void received(ByteBuf bytes) {
        int size = bytes.readableBytes();
        if (over || callerEnded) {
            bytes.release();
            return;
        }
        held.take(size);
        runtime.quota().usage().in(size);
        if (backlog.isEmpty() && unforwarded < RawConnection.HIGH_WATER) {
            send(bytes);
        } else {
            backlog.add(bytes);
            backlogBytes += size;
        }
        requireRoom();
    }

    /** Ends the exchange if more bytes were granted, before memory was short, than there is room for. */
    private void requireRoom() {
        if (held.isTooMuch()) {
            abandon(EdgeProblems.GAVE_WAY);
        }
    }

    private void send(ByteBuf bytes) {
        unforwarded += bytes.readableBytes();
        PacedBody pace = toUpstream;
        if (pace == null) {
            pace = runtime.quota().pacedRequest(connection.loop(), this::forward);
            toUpstream = pace;
        }
        if (pace == null) {
            forward(bytes);
        } else {
            pace.data(bytes);
        }
    }

    private void forward(ByteBuf bytes) {
        RequestSink to = sink;
        if (to == null) {
            bytes.release();
        } else {
            to.data(bytes);
        }
    }

    /** The caller has closed its half. */
    void receivedEnd() {
        if (over || callerEnded) {
            return;
        }
        callerEnded = true;
        endIfSent();
    }

    private void endIfSent() {
        if (!callerEnded || callerEndSent || !backlog.isEmpty()) {
            return;
        }
        callerEndSent = true;
        PacedBody pace = toUpstream;
        if (pace == null) {
            forwardEnd();
        } else {
            pace.end(this::forwardEnd);
        }
    }

    private void forwardEnd() {
        callerEndTold = true;
        RequestSink to = sink;
        if (to != null) {
            to.end(null);
        }
        closeIfDone();
    }

    /** The bytes that wait for the upstream, or for memory. */
    int unforwarded() {
        return unforwarded + backlogBytes + held.owedRequest();
    }

    /**
     * Whether reading must stop because memory is short. {@link RawConnection#regulate} is called when that
     * ends.
     */
    boolean isStopped() {
        return !over && held.isStopped();
    }

    @Override
    public void consumed(int bytes) {
        if (!over) {
            held.give(bytes);
            unforwarded -= bytes;
            while (unforwarded < RawConnection.HIGH_WATER && !backlog.isEmpty() && !over) {
                ByteBuf next = Objects.requireNonNull(backlog.poll());
                backlogBytes -= next.readableBytes();
                send(next);
            }
            held.taken(bytes, 0);
            endIfSent();
        }
    }

    private void report(int requestBytes, int responseBytes) {
        acknowledge(responseBytes);
        if (!over) {
            connection.regulate();
        }
    }

    private void acknowledge(int bytes) {
        RequestSink to = sink;
        if (to != null && bytes > 0) {
            to.consumed(bytes);
        }
    }

    // ---- from the upstream ----

    @Override
    public void informational(Http2Headers head) {}

    /** The upstream is connected. */
    @Override
    public void head(Http2Headers head, boolean ended) {
        if (ended) {
            end(null);
        }
    }

    @Override
    public void data(ByteBuf body) {
        if (over || upstreamEnded) {
            acknowledge(body.readableBytes());
            body.release();
        } else {
            answered = true;
            toCaller.data(body, runtime.quota());
            requireRoom();
        }
    }

    /** Reports the bytes that the caller's socket has accepted as consumed. */
    void passedOn() {
        if (!over) {
            toCaller.passedOn();
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (!over && !upstreamEnded) {
            upstreamEnded = true;
            answered = true;
            toCaller.end(() -> connection.endOutput(this::outputEnded));
        }
    }

    @Override
    public void fail(Problem problem) {
        if (over) {
            return;
        }
        sink = null;
        if (answered) {
            connection.shared().telemetry().problem(problem);
            callerEnded = true;
            upstreamEnded = true;
            toCaller.end(() -> connection.whenWritten(this::broken));
        } else {
            finish(false);
            connection.refuse(problem);
        }
    }

    /** The caller's socket has accepted all bytes received before the failure. */
    private void broken() {
        if (!over) {
            finish(false);
            connection.reset();
        }
    }

    // ---- the end ----

    private void outputEnded() {
        upstreamEndTold = true;
        toCaller.passedOn();
        closeIfDone();
    }

    private void closeIfDone() {
        if (!over && callerEndTold && upstreamEndTold) {
            acknowledge(toCaller.rest());
            finish(false);
            connection.close();
        }
    }

    /** Whether nothing is forwarded any more. */
    boolean isOver() {
        return over;
    }

    /** The caller's connection closed, but not by {@link #closeIfDone}: it was reset or failed. */
    void callerGone() {
        if (!over) {
            cancel(EdgeProblems.CALLER_GONE);
            finish(true);
        }
    }

    private void cutReader() {
        connection.shared().meters().unread(connection.caller());
        abandon(EdgeProblems.TOO_SLOW);
    }

    /** Ends both directions at once. */
    void abandon(Problem why) {
        if (!over) {
            connection.shared().telemetry().problem(why);
            cancel(why);
            finish(true);
            connection.reset();
        }
    }

    private void cancel(Problem why) {
        RequestSink to = sink;
        sink = null;
        if (to != null) {
            to.cancel(why);
        }
    }

    private void finish(boolean callerGone) {
        over = true;
        open.decrement();
        backlog.clear();
        PacedBody pace = toUpstream;
        if (pace != null) {
            pace.close();
        }
        toCaller.close(callerGone);
        connection.shared().meters().usage(runtime.name(), runtime.quota().usage());
    }
}
