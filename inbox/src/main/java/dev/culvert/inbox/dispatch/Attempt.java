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
 * One webhook on its way to its event source, once. Lives on one event loop; reports its end exactly once.
 *
 * <p>Its deadline is absolute: neither bytes taken nor informational heads move it. The head of the answer decides what becomes
 * of the webhook. What follows the head is for the caller only: it is read for {@link #ANSWER_TIME} and up to {@link
 * StoredAnswer#MAX_BODY} bytes, then the exchange is cut.
 */
public final class Attempt implements ResponseSink {
    public static final AsciiString ID = AsciiString.cached("culvert-webhook-id");
    public static final AsciiString NUMBER = AsciiString.cached("culvert-delivery-attempt");
    /** How long the body of an answer may take after its head, so that a body that drips frees its slot. */
    static final Duration ANSWER_TIME = Duration.ofSeconds(2);
    /** How fast a large body must leave, at least; it adds to the deadline of a repeated attempt. */
    static final int LEAST_BYTES_PER_SECOND = 256 << 10;
    /** What may be on its way without being taken. */
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
    /** Bytes of the answer that came before there was somebody to tell. */
    private int owed;

    /** Told the end, on the attempt's loop. */
    @FunctionalInterface
    interface Ended {
        /**
         * The attempt is over.
         *
         * @param answer what the caller gets of it; null: there is no whole one
         */
        void with(AttemptResult result, @Nullable StoredAnswer answer);
    }

    /**
     * @param fields as they were stored
     * @param number of this attempt, from 1
     * @param body closed at the end
     * @param timeoutNanos how long it may take, from {@link #start} on
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

    /** Which attempt of which webhook. */
    record Numbered(String id, int attempt) {}

    /**
     * How long an attempt may take: the first one just the configured time; a later one as much longer as its body needs at the
     * least rate, so that a large webhook gets through a slow tunnel.
     */
    static Duration timeout(Duration configured, int number, long bytes) {
        return number <= 1 ? configured : configured.plusSeconds(bytes / LEAST_BYTES_PER_SECOND);
    }

    /** Any thread. */
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

    /** Gives up: what it would have become stays open. Any thread. */
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
        // Not an answer: an event source could send these for ever.
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
            throw new IllegalStateException("memory takes all", e);
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

    /** Nothing more of the answer is needed. */
    private void cut() {
        RequestSink to = sink;
        answered(false);
        if (to != null) {
            to.cancel(AttemptResult.late());
        }
    }

    /** The head decides; whether its body came whole only matters to the caller. */
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
