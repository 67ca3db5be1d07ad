package dev.culvert.inbox;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What a caller was answered. */
public final class Reply implements ResponseSink {
    private final CompletableFuture<Reply> whole = new CompletableFuture<>();
    private final StringBuilder body = new StringBuilder();
    public final AtomicLong consumed = new AtomicLong();
    final AtomicLong interims = new AtomicLong();
    public volatile @Nullable Problem problem;
    private volatile @Nullable Http2Headers head;

    /** Waits for all of it. */
    public Reply await() {
        try {
            return whole.get(20, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException("no answer", e);
        }
    }

    public boolean isThere() {
        return whole.isDone();
    }

    public int status() {
        Problem refused = await().problem;
        return refused == null
                ? Integer.parseInt(String.valueOf(fields().status()))
                : refused.cause().status();
    }

    public String body() {
        await();
        synchronized (body) {
            return body.toString();
        }
    }

    public String field(String name) {
        await();
        return String.valueOf(fields().get(name));
    }

    public String id() {
        return field("culvert-webhook-id");
    }

    private Http2Headers fields() {
        Http2Headers fields = head;
        if (fields == null) {
            throw new IllegalStateException("refused: " + problem);
        }
        return fields;
    }

    @Override
    public void informational(Http2Headers interim) {
        interims.incrementAndGet();
    }

    @Override
    public void head(Http2Headers fields, boolean ended) {
        head = fields;
        if (ended) {
            whole.complete(this);
        }
    }

    @Override
    public void data(ByteBuf bytes) {
        synchronized (body) {
            body.append(bytes.toString(StandardCharsets.ISO_8859_1));
        }
        bytes.release();
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        whole.complete(this);
    }

    @Override
    public void fail(Problem why) {
        problem = why;
        whole.complete(this);
    }

    @Override
    public void consumed(int bytes) {
        consumed.addAndGet(bytes);
    }
}
