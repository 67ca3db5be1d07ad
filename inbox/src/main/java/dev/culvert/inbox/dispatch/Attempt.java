package dev.culvert.inbox.dispatch;

import dev.culvert.http.problem.Problem;
import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.Future;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to deliver a webhook to its event source. Lives on one event loop. Reports its end exactly
 * once.
 *
 * <p>Its deadline is absolute: neither consumed bytes nor informational heads move it. The head of the
 * response decides the webhook's state. Only the caller needs the response's body: it is read for
 * {@link #ANSWER_TIME} and up to {@link StoredAnswer#MAX_BODY} bytes, then the exchange is cancelled.
 */
public final class Attempt implements ResponseSink {
    public static final AsciiString ID = AsciiString.cached("culvert-webhook-id");
    public static final AsciiString NUMBER = AsciiString.cached("culvert-delivery-attempt");
    /** The maximum time of a response's body after its head, so that a slow body frees its slot. */
    static final Duration ANSWER_TIME = Duration.ofSeconds(2);
    /** The minimum rate of a large body, which extends the deadline of a repeated attempt. */
    static final int MIN_BYTES_PER_SECOND = 256 << 10;
    /** The maximum number of sent bytes that the other side has not consumed. */
    private static final int HIGH_WATER = 64 << 10;

    private final EventLoop loop;
    private final Relay relay;
    private final BodySource body;
    private final long timeoutNanos;
    private final Ended ended;
    private final RelayRequest request;
    private final String requestId;
    private @Nullable RequestSink sink;
    private @Nullable Future<?> timer;
    private long deadline;
    private long untaken;
    private boolean reading;
    private boolean sent;
    private boolean over;
    private @Nullable Http2Headers head;
    private final ByteArrayOutputStream answer = new ByteArrayOutputStream(0);
    private boolean tooLong;
    /** The response bytes received before the request's sink was known. */
    private int owed;

    /** Receives the end of the attempt, on its loop. */
    @FunctionalInterface
    interface Ended {
        /**
         * The attempt is over.
         *
         * @param answer the response for the caller; null: there is no complete one
         */
        void with(AttemptResult result, @Nullable StoredAnswer answer);
    }

    /**
     * @param fields the stored fields
     * @param number the id of the webhook, and the attempt's number from 1
     * @param body the body; closed at the end
     * @param timeoutNanos the maximum time from {@link #start}, in nanoseconds
     */
    Attempt(EventLoop loop, Relay relay, Http2Headers fields, Numbered number, BodySource body,
            long timeoutNanos,
            Ended ended) {
        this.loop = loop;
        this.relay = relay;
        this.body = body;
        this.timeoutNanos = timeoutNanos;
        this.ended = ended;
        fields.set(ID, number.id);
        fields.setInt(NUMBER, number.attempt);
        this.sent = body.size() == 0;
        this.requestId = String.valueOf(fields.get("x-request-id", ""));
        this.request = new RelayRequest(RelayRequest.Kind.HTTP, fields, sent, loop);
    }

    /** Identifies an attempt: the webhook's id and the attempt's number. */
    record Numbered(String id, int attempt) {}

    /**
     * Returns the time-out of an attempt. The first one has the configured time. Later ones have as much more
     * as the body needs at the minimum rate, so that a large webhook passes a slow tunnel.
     */
    static Duration timeout(Duration configured, int number, long bytes) {
        return number <= 1 ? configured : configured.plusSeconds(bytes / MIN_BYTES_PER_SECOND);
    }

    /** Starts the attempt. Any thread. */
    void start() {
        loop.execute(() -> {
            deadline = loop.ticker().nanoTime() + timeoutNanos;
            arm(timeoutNanos);
            if (!over) {
                RequestSink to = relay.open(request, this);
                sink = to;
                if (owed > 0) {
                    to.consumed(owed);
                }
                send();
            }
        });
    }

    /** Abandons the attempt. Its result stays unknown. Any thread. */
    void abandon(Problem why) {
        loop.execute(() -> fail(why, new AttemptResult.Lost(why.cause().word())));
    }

    private void arm(long nanos) {
        timer = loop.schedule(this::late, nanos, TimeUnit.NANOSECONDS);
    }

    private void disarm() {
        Future<?> running = timer;
        if (running != null) {
            running.cancel(false);
        }
    }

    private void late() {
        if (head != null) {
            cut();
        } else {
            Problem late = AttemptResult.late();
            fail(late, AttemptResult.of(late));
        }
    }

    private void send() {
        RequestSink to = sink;
        if (to == null || over || sent || reading || untaken >= HIGH_WATER) {
            return;
        }
        reading = true;
        body.read(loop, chunk -> {
            reading = false;
            if (over) {
                chunk.release();
                body.close();
                return;
            }
            untaken += chunk.readableBytes();
            sent = body.isAtEnd();
            to.data(chunk);
            if (sent && !over) {
                to.end(null);
            }
            send();
        }, this::unreadable);
    }

    private void unreadable(IOException failed) {
        reading = false;
        if (over) {
            body.close();
        } else {
            Problem problem = AttemptResult.unreadable();
            fail(problem, AttemptResult.of(problem));
        }
    }

    private void fail(Problem why, AttemptResult result) {
        if (!over) {
            RequestSink to = sink;
            finish(result, null);
            if (to != null) {
                to.cancel(why);
            }
        }
    }

    private void finish(AttemptResult result, @Nullable StoredAnswer whole) {
        over = true;
        disarm();
        if (!reading) {
            body.close();
        }
        ended.with(result, whole);
    }

    // ---- the answer ----

    @Override
    public void informational(Http2Headers interim) {
        // Ignored: an event source could send these for ever.
    }

    @Override
    public void head(Http2Headers fields, boolean last) {
        if (over) {
            return;
        }
        head = new DefaultHttp2Headers(false).setAll(fields);
        if (last) {
            answered(true);
        } else {
            disarm();
            arm(Math.clamp(deadline - loop.ticker().nanoTime(), 0, ANSWER_TIME.toNanos()));
        }
    }

    @Override
    public void data(ByteBuf bytes) {
        int length = bytes.readableBytes();
        try {
            if (over) {
                return;
            }
            if (answer.size() + length <= StoredAnswer.MAX_BODY) {
                bytes.readBytes(answer, length);
            } else {
                tooLong = true;
            }
        } catch (IOException e) {
            throw new IllegalStateException("a byte array accepts all bytes", e);
        } finally {
            bytes.release();
        }
        if (tooLong) {
            cut();
        } else if (sink != null) {
            sink.consumed(length);
        } else {
            owed += length;
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (!over) {
            answered(true);
        }
    }

    /** Cancels the rest of the response, which is not needed. */
    private void cut() {
        RequestSink to = sink;
        answered(false);
        if (to != null) {
            to.cancel(AttemptResult.late());
        }
    }

    /** Ends the attempt by the response's head. Whether the body is complete matters only to the caller. */
    private void answered(boolean whole) {
        Http2Headers fields = head;
        RequestSink to = sink;
        boolean unfinished = !sent;
        if (fields == null) {
            return;
        }
        byte[] content = answer.toByteArray();
        finish(AttemptResult.of(fields, content), whole ? new StoredAnswer(fields, content) : null);
        if (whole && unfinished && to != null) {
            to.cancel(AttemptResult.late());
        }
    }

    @Override
    public void fail(Problem problem) {
        if (over) {
            return;
        }
        if (head != null) {
            answered(false);
            return;
        }
        AttemptResult result = AttemptResult.of(problem);
        boolean refusal = result instanceof AttemptResult.Rejected
                || result instanceof AttemptResult.Forbidden;
        finish(result, refusal ? StoredAnswer.of(problem, requestId) : null);
    }

    @Override
    public void consumed(int bytes) {
        untaken -= bytes;
        send();
    }
}
