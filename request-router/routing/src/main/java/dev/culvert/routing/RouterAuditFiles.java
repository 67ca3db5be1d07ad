package dev.culvert.routing;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.http.observe.RotatedFile;
import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Schedulers;

/**
 * The audit log as files of JSON lines, {@code audit-refused.log} and {@code audit-changes.log}: two, so that a flood of
 * refused requests pushes no change out. The elastic scheduler writes; what comes faster than the disk takes it is counted and
 * left out. A disk that fails is logged, and does not stop the router.
 */
public final class RouterAuditFiles implements RouterAudit, AutoCloseable {
    /** About 2 MiB of lines. */
    static final int MAX_QUEUED = 4096;

    private static final Logger log = LoggerFactory.getLogger(RouterAuditFiles.class);
    private static final JsonMapper JSON = new JsonMapper();
    /** Kept free for changes. */
    private static final int ROOM_FOR_CHANGES = 256;
    /** As much of a text as a person reads. */
    private static final int MAX_TEXT = 1024;

    private final LinkedBlockingQueue<Line> queue = new LinkedBlockingQueue<>(MAX_QUEUED);
    private final AtomicLong dropped = new AtomicLong();
    private final RotatedFile refusals;
    private final RotatedFile changes;
    private final Clock clock;
    private final Executor disk;
    /** Lines that came since the writer looked; above 0 there is one. */
    private final AtomicInteger news = new AtomicInteger();
    private volatile boolean closed;
    private long told;
    private boolean failing;

    /** @param disk where it may be written */
    RouterAuditFiles(Path folder, Clock clock, Executor disk) {
        this.clock = clock;
        this.disk = disk;
        this.refusals = new RotatedFile(folder, "audit-refused.log", RotatedFile.USUAL_BYTES);
        this.changes = new RotatedFile(folder, "audit-changes.log", RotatedFile.USUAL_BYTES);
    }

    /** Writes into a folder, which is made when it is absent, once there is something to write. */
    public static RouterAuditFiles in(Path folder) {
        return in(folder, Clock.systemUTC());
    }

    static RouterAuditFiles in(Path folder, Clock clock) {
        return new RouterAuditFiles(folder, clock, Schedulers.boundedElastic()::schedule);
    }

    @Override
    public void refused(@Nullable InetAddress caller, Http2Headers fields, Problem problem) {
        if (closed || queue.size() >= MAX_QUEUED - ROOM_FOR_CHANGES) {
            dropped.incrementAndGet();
            return;
        }
        ObjectNode line = line("refused");
        line.put("address", caller == null ? null : caller.getHostAddress());
        put(line, "subject", fields.get("culvert-caller-subject"));
        put(line, "requestId", fields.get("x-request-id"));
        put(line, "method", fields.method());
        put(line, "host", fields.authority());
        put(line, "path", withoutQuery(fields.path()));
        line.put("cause", problem.cause().word()).put("detail", problem.detail());
        queue(new Line(false, line.toString()));
    }

    @Override
    public void changed(String what, String by, String detail) {
        ObjectNode line = line(what);
        put(line, "by", by);
        put(line, "detail", detail.isEmpty() ? null : detail);
        queue(new Line(true, line.toString()));
    }

    private ObjectNode line(String what) {
        return JSON.createObjectNode().put("when", clock.instant().toString()).put("what", what);
    }

    private static void put(ObjectNode line, String name, @Nullable CharSequence text) {
        if (text != null) {
            line.put(name, text.length() > MAX_TEXT ? text.subSequence(0, MAX_TEXT) + "…" : text.toString());
        }
    }

    /** Queries hold secrets. */
    private static @Nullable String withoutQuery(@Nullable CharSequence target) {
        if (target == null) {
            return null;
        }
        String text = target.toString();
        int question = text.indexOf('?');
        return question < 0 ? text : text.substring(0, question);
    }

    private void queue(Line line) {
        if (closed || !queue.offer(line)) {
            dropped.incrementAndGet();
        } else if (news.getAndIncrement() == 0) {
            try {
                disk.execute(this::write);
            } catch (RejectedExecutionException e) {
                news.set(0); // the process ends, and close writes what there is
            }
        }
    }

    /** Lines that were left out. */
    long dropped() {
        return dropped.get();
    }

    private void write() {
        int seen = news.get();
        while (seen > 0) {
            writeQueued();
            seen = news.addAndGet(-seen);
        }
    }

    private synchronized void writeQueued() {
        for (Line line = queue.poll(); line != null; line = queue.poll()) {
            append(line.change ? changes : refusals, line.text);
        }
        long lost = dropped.get();
        if (lost > told && !failing) {
            append(refusals, line("dropped").put("lines", lost - told).toString());
            told = lost;
        }
    }

    /** A disk that fails is told of once, until it is well again. */
    private void append(RotatedFile file, String text) {
        try {
            file.append(text);
            failing = false;
        } catch (IOException e) {
            file.close();
            dropped.incrementAndGet();
            if (!failing) {
                failing = true;
                log.atError()
                        .addKeyValue("file", file.path())
                        .addKeyValue("reason", e.toString())
                        .log("audit lines are not written");
            }
        }
    }

    /** Writes what is queued; what comes later is left out. Not for an event loop. */
    @Override
    public void close() {
        closed = true;
        writeQueued();
        synchronized (this) {
            refusals.close();
            changes.close();
        }
    }

    private record Line(boolean change, String text) {}
}
