package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.protocol.body.BodyQueue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request that waits for its admission and then forwards every call to its target.
 *
 * <pre>
 *  UNDECIDED ──pass──────────► OPEN (all calls go on)
 *     ├──refuse, answer, late─► OVER
 *     └──cancel───────────────► OVER
 * </pre>
 */
final class AdmittedRequest implements RequestSink, Verdict {
    private static final Duration RETRY_LATE = Duration.ofSeconds(5);

    private final RelayRequest request;
    private final ResponseSink response;
    private final Relay target;
    private final BodyQueue held = new BodyQueue();
    private Runnable giveUp = Admission.DECIDED;
    private @Nullable ScheduledFuture<?> patience;
    private @Nullable RequestSink opened;
    private @Nullable Http2Headers trailers;
    private @Nullable Problem cancelled;
    private boolean ended;
    private boolean decided;
    private boolean passing;
    private int consumed;

    AdmittedRequest(RelayRequest request, ResponseSink response, Relay target) {
        this.request = request;
        this.response = response;
        this.target = target;
    }

    void begin(Admission admission, Duration deadline) {
        Runnable stop = admission.admit(request, this);
        if (!decided) {
            giveUp = stop;
            patience = request.loop().schedule(this::late, deadline.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void late() {
        giveUp.run();
        refuse(Problem.of(Cause.OVERLOADED, Hop.EDGE, "the admission check timed out")
                .retryAfter(RETRY_LATE));
    }

    // ---- the verdict ----

    @Override
    public void pass(@Nullable Http2Headers fields) {
        decide(() -> {
            if (fields != null) {
                fields.names().forEach(name -> request.fields().set(name, fields.getAll(name)));
            }
            goOn();
        });
    }

    @Override
    public void refuse(Problem problem) {
        decide(() -> {
            drop();
            response.fail(problem);
        });
    }

    @Override
    public void answer(Http2Headers head, byte[] body) {
        decide(() -> {
            drop();
            CharSequence method = request.fields().method();
            boolean bodiless = body.length == 0 || (method != null && "HEAD".contentEquals(method));
            head.setInt("content-length", body.length);
            response.head(head, bodiless);
            if (!bodiless) {
                response.data(Unpooled.wrappedBuffer(body));
                response.end(null);
            }
        });
    }

    private void decide(Runnable how) {
        if (request.loop().inEventLoop()) {
            decideHere(how);
            return;
        }
        try {
            request.loop().execute(() -> decideHere(how));
        } catch (RejectedExecutionException e) {
            // The loop has ended, and with it the caller's connection.
        }
    }

    private void decideHere(Runnable how) {
        if (!decided) {
            decided = true;
            disarm();
            how.run();
        }
    }

    private void disarm() {
        giveUp = Admission.DECIDED;
        ScheduledFuture<?> running = patience;
        if (running != null) {
            patience = null;
            running.cancel(false);
        }
    }

    /**
     * Opens the target and forwards the held calls. Body bytes that arrive meanwhile, because the target
     * consumes, queue behind the held ones.
     */
    private void goOn() {
        passing = true;
        RequestSink to = target.open(request, response);
        for (ByteBuf body = held.poll(); body != null; body = held.poll()) {
            to.data(body);
        }
        opened = to;
        if (consumed > 0) {
            to.consumed(consumed);
        }
        if (ended) {
            to.end(trailers);
        }
        if (cancelled != null) {
            to.cancel(cancelled);
        }
    }

    private void drop() {
        held.clear();
    }

    // ---- the request ----

    @Override
    public void data(ByteBuf body) {
        RequestSink to = opened;
        if (to != null) {
            to.data(body);
        } else if (decided && !passing || cancelled != null) {
            body.release();
        } else {
            held.add(body);
        }
    }

    @Override
    public void end(@Nullable Http2Headers last) {
        RequestSink to = opened;
        if (to != null) {
            to.end(last);
        } else {
            ended = true;
            trailers = last;
        }
    }

    @Override
    public void cancel(Problem reason) {
        RequestSink to = opened;
        if (to != null) {
            to.cancel(reason);
            return;
        }
        cancelled = reason;
        if (!decided) {
            decided = true;
            giveUp.run();
            disarm();
            drop();
        }
    }

    @Override
    public void consumed(int bytes) {
        RequestSink to = opened;
        if (to != null) {
            to.consumed(bytes);
        } else {
            consumed += bytes; // the target may respond before its open() returns
        }
    }
}
