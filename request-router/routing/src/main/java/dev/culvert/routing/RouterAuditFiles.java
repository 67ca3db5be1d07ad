package dev.culvert.routing;

import dev.culvert.config.IpText;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.AuditTrail.Decision;
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
 * The audit log as two files of JSON lines, {@code audit-refused.log} and {@code audit-changes.log}, so that
 * a flood of refused requests rotates no change out. The elastic scheduler writes. Lines that arrive faster
 * than the disk can write them are counted and dropped. A disk error is logged and does not stop the router.
 */
public final class RouterAuditFiles implements RouterAudit, AutoCloseable {
    /** About 2 MiB of lines. */
    static final int MAX_QUEUED = 4096;

    private static final Logger log = LoggerFactory.getLogger(RouterAuditFiles.class);
    /** The part of the queue that is reserved for changes. */
    private static final int ROOM_FOR_CHANGES = 256;

    private final LinkedBlockingQueue<Line> queue = new LinkedBlockingQueue<>(MAX_QUEUED);
    private final AtomicLong dropped = new AtomicLong();
    private final RotatedFile refusals;
    private final RotatedFile changes;
    private final Clock clock;
    private final Executor disk;
    /** The number of lines queued since the writer's last check. The writer runs while it is above 0. */
    private final AtomicInteger news = new AtomicInteger();
    private volatile boolean closed;
    private long told;
    private boolean failing;

    /** @param disk the executor for writes, which may block */
    RouterAuditFiles(Path folder, Clock clock, Executor disk) {
        this.clock = clock;
        this.disk = disk;
        this.refusals = new RotatedFile(folder, "audit-refused.log", RotatedFile.USUAL_BYTES);
        this.changes = new RotatedFile(folder, "audit-changes.log", RotatedFile.USUAL_BYTES);
    }

    /** Writes into a folder. The first line creates it if it is absent. */
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
        queue(false, new AuditTrail.Entry(text(fields.get("culvert-caller-subject")), null,
                text(fields.method()), "request",
                text(fields.authority()) + withoutQuery(text(fields.path())),
                Decision.DENIED, text(fields.get("x-request-id")),
                caller == null ? null : IpText.of(caller),
                problem.cause().word() + ": " + problem.detail()));
    }

    @Override
    public void changed(String what, String by, String detail) {
        queue(true,
                new AuditTrail.Entry(by, null, what, "router", detail, Decision.ALLOWED, null, null, null));
    }

    /** Records a change by an operator. */
    public void changed(AuditTrail.Entry entry) {
        queue(true, entry);
    }

    /** Records a refused call of an operator. */
    public void refused(AuditTrail.Entry entry) {
        if (closed || queue.size() >= MAX_QUEUED - ROOM_FOR_CHANGES) {
            dropped.incrementAndGet();
            return;
        }
        queue(false, entry);
    }

    private static String text(@Nullable CharSequence field) {
        return field == null ? "" : field.toString();
    }

    /** Removes the query, which may contain secrets. */
    private static String withoutQuery(String target) {
        int question = target.indexOf('?');
        return question < 0 ? target : target.substring(0, question);
    }

    private void queue(boolean change, AuditTrail.Entry entry) {
        if (closed || !queue.offer(new Line(change, entry.line(clock.instant())))) {
            dropped.incrementAndGet();
        } else if (news.getAndIncrement() == 0) {
            try {
                disk.execute(this::write);
            } catch (RejectedExecutionException e) {
                news.set(0); // the process ends, and close writes the queued lines
            }
        }
    }

    /** The number of dropped lines. */
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
            append(refusals,
                    new AuditTrail.Entry("", null, "dropped", "records", "", Decision.FAILED, null, null,
                            lost - told + " records were not written").line(clock.instant()));
            told = lost;
        }
    }

    /** Appends a line. A disk error is logged once until a write succeeds again. */
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

    /** Writes the queued lines. Later lines are dropped. Blocks, so it must not run on an event loop. */
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
