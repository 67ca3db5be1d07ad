package dev.culvert.inbox.intake;

import dev.culvert.http.problem.Problem;
import dev.culvert.inbox.dispatch.Attempt;
import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.inbox.model.Waiter;
import dev.culvert.relay.ResponseSink;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Answers a webhook's caller, once. Its state belongs to the caller's loop. Methods may be called on any
 * thread.
 */
final class CallerAnswer implements Waiter {
    private static final String DUPLICATE = "culvert-webhook-duplicate";

    private final EventLoop loop;
    private final ResponseSink response;
    private String id;
    private boolean duplicate;
    private boolean over;
    private @Nullable Future<?> patience;

    CallerAnswer(EventLoop loop, ResponseSink response, String id) {
        this.loop = loop;
        this.response = response;
        this.id = id;
    }

    /** The webhook is stored, possibly under another id. From now on the caller waits for the given time. */
    void stored(String as, long waitMillis) {
        run(() -> {
            duplicate = !as.equals(id);
            id = as;
            patience = loop.schedule(this::accept, waitMillis, TimeUnit.MILLISECONDS);
        });
    }

    /** The webhook is not stored. */
    void refuse(Problem problem) {
        run(() -> {
            if (end()) {
                response.fail(problem);
            }
        });
    }

    /** The caller disconnected. Call on the loop. */
    void gone() {
        end();
    }

    @Override
    public void pending() {
        run(this::accept);
    }

    @Override
    public void answered(StoredAnswer answer) {
        run(() -> {
            Http2Headers head = new DefaultHttp2Headers(false).setAll(answer.head());
            send(head, answer.body());
        });
    }

    private void accept() {
        byte[] body = ("{\"id\":\"" + id + "\",\"state\":\"pending\"}").getBytes(StandardCharsets.US_ASCII);
        send(new DefaultHttp2Headers(false).status("202")
                .set("content-type", "application/json")
                .setInt("content-length", body.length), body);
    }

    private void send(Http2Headers head, byte[] body) {
        if (!end()) {
            return;
        }
        head.set(Attempt.ID, id);
        if (duplicate) {
            head.set(DUPLICATE, "true");
        }
        response.head(head, body.length == 0);
        if (body.length > 0) {
            response.data(Unpooled.wrappedBuffer(body));
            response.end(null);
        }
    }

    private boolean end() {
        if (over) {
            return false;
        }
        over = true;
        Future<?> waiting = patience;
        if (waiting != null) {
            waiting.cancel(false);
        }
        return true;
    }

    private void run(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
            return;
        }
        try {
            loop.execute(task);
        } catch (RejectedExecutionException ended) {
            // The loop has ended, and with it the caller's connection.
        }
    }
}
