package dev.culvert.inbox;

import dev.culvert.edge.Problem;
import dev.culvert.edge.relay.Relay;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.Future;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One webhook on its way to its event source, once. Lives on one event loop; tells its end exactly once.
 *
 * <p>It is too late when nothing has happened for the time that an attempt may take: neither bytes taken nor an answer.
 */
final class Attempt implements ResponseSink {
    static final AsciiString ID = AsciiString.cached("culvert-webhook-id");
    static final AsciiString NUMBER = AsciiString.cached("culvert-delivery-attempt");
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
    private long lastProgress;
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
        void with(AttemptResult result, @Nullable Answer answer);
    }

    /**
     * @param fields as they were stored
     * @param number of this attempt, from 1
     * @param body closed at the end
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

    /** Any thread. */
    void start() {
        loop.execute(() -> {
            lastProgress = System.nanoTime();
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
        timer = loop.schedule(this::check, nanos, TimeUnit.NANOSECONDS);
    }

    private void check() {
        long left = lastProgress + timeoutNanos - System.nanoTime();
        if (left > 0) {
            arm(left);
        } else if (!over) {
            Problem late = AttemptResult.late();
            fail(late, brokenOff(late));
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
            lastProgress = System.nanoTime();
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

    private void finish(AttemptResult result, @Nullable Answer whole) {
        over = true;
        Future<?> running = timer;
        if (running != null) {
            running.cancel(false);
        }
        if (!reading) {
            body.close();
        }
        ended.with(result, whole);
    }

    // ---- the answer ----

    @Override
    public void informational(Http2Headers interim) {
        lastProgress = System.nanoTime();
    }

    @Override
    public void head(Http2Headers fields, boolean last) {
        if (over) {
            return;
        }
        lastProgress = System.nanoTime();
        head = new DefaultHttp2Headers(false).setAll(fields);
        if (last) {
            answered();
        }
    }

    @Override
    public void data(ByteBuf bytes) {
        int length = bytes.readableBytes();
        try {
            if (over) {
                return;
            }
            lastProgress = System.nanoTime();
            if (answer.size() + length <= Answer.MAX_BODY) {
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
            RequestSink to = sink;
            answered();
            if (to != null) {
                to.cancel(AttemptResult.late());
            }
        } else if (sink != null) {
            sink.consumed(length);
        } else {
            owed += length;
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (!over) {
            answered();
        }
    }

    /** The head decides; whether its body came whole only matters to the caller. */
    private void answered() {
        Http2Headers fields = head;
        RequestSink to = sink;
        boolean unfinished = !sent;
        if (fields == null) {
            return;
        }
        int status = Integer.parseInt(String.valueOf(fields.status()));
        CharSequence retryAfter = fields.get("retry-after");
        finish(AttemptResult.of(status, retryAfter == null ? null : retryAfter.toString()),
                tooLong ? null : new Answer(fields, answer.toByteArray()));
        if (unfinished && to != null) {
            to.cancel(AttemptResult.late());
        }
    }

    @Override
    public void fail(Problem problem) {
        if (over) {
            return;
        }
        AttemptResult result = brokenOff(problem);
        finish(result, result instanceof AttemptResult.Rejected ? Answer.of(problem, requestId) : null);
    }

    /** What it means that there is no whole answer: one that began with 2xx was accepted. */
    private AttemptResult brokenOff(Problem why) {
        Http2Headers fields = head;
        String status = fields == null ? "" : String.valueOf(fields.status());
        return status.startsWith("2")
                ? AttemptResult.of(Integer.parseInt(status), null)
                : AttemptResult.of(why);
    }

    @Override
    public void consumed(int bytes) {
        untaken -= bytes;
        lastProgress = System.nanoTime();
        send();
    }
}
