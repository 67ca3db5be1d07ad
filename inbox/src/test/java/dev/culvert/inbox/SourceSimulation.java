package dev.culvert.inbox;

import dev.culvert.inbox.dispatch.AttemptRecord;
import dev.culvert.inbox.dispatch.AttemptResult;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.queue.DispatchPlan;
import dev.culvert.inbox.queue.SourceQueue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;

/** One event source in virtual time: the plan as it is, a disk, and answers that a test decides on. */
final class SourceSimulation {
    private static final String RUNTIME = "r";
    private static final String SOURCE = "argo/push";
    /** What an attempt takes, its transactions included. */
    private static final long ATTEMPT = 10;

    final DispatchPlan plan = new DispatchPlan(256);
    /** How long each webhook waited for its delivery, in the order of deliveries. */
    final Map<Long, Long> delivered = new LinkedHashMap<>();
    final Set<Long> outOfOrder = new HashSet<>();
    int attempts;
    long now;
    private final Answers answers;
    private final TreeMap<Long, Row> disk = new TreeMap<>();
    private final PriorityQueue<Flying> flying = new PriorityQueue<>(
            Comparator.comparingLong(Flying::ends));
    private long last;
    private long read;

    /** What the event source makes of a webhook. */
    interface Answers {
        boolean fails(long seq, long now);
    }

    private record Row(long stored, int failures, long next, boolean aside) {}

    private record Flying(QueuedWebhook pending, long ends) {}

    SourceSimulation(Answers answers) {
        this.answers = answers;
    }

    /** Stores webhooks; returns the number of the last one. */
    long store(int count) {
        for (int i = 0; i < count; i++) {
            long seq = ++last;
            var row = new Row(now, 0, now, false);
            disk.put(seq, row);
            read += plan.stored(pending(seq, row)) ? 1 : 0;
        }
        return last;
    }

    /** The number of the webhook that was stored last. */
    long lastStored() {
        return last;
    }

    /** Lets time pass. */
    void run(long until) {
        while (now < until) {
            for (DispatchPlan.Load load = plan.pollLoad(); load != null; load = plan.pollLoad()) {
                plan.loaded(load, rows(load));
            }
            QueuedWebhook next = plan.next(now, any -> true);
            if (next != null) {
                attempts++;
                next.attemptBegan = now;
                flying.add(new Flying(next, now + ATTEMPT));
                continue;
            }
            Flying first = flying.peek();
            long ends = first == null ? Long.MAX_VALUE : first.ends;
            now = Math.min(until, Math.max(now + 1, Math.min(ends, plan.nextAt())));
            if (first != null && ends <= now) {
                flying.remove();
                ended(first.pending);
            }
        }
    }

    /** The longest that one of these waited for its delivery. */
    long longestWait(long from, long to) {
        return delivered.entrySet()
                .stream()
                .filter(one -> one.getKey() >= from && one.getKey() <= to)
                .mapToLong(Map.Entry::getValue)
                .max()
                .orElse(0);
    }

    /** How many of the line are in memory. */
    long inLine() {
        return read - outOfOrder.size() - delivered.size();
    }

    /** The deliveries that claim to be in order. */
    List<Long> inOrder() {
        return delivered.keySet().stream().filter(seq -> !outOfOrder.contains(seq)).toList();
    }

    private void ended(QueuedWebhook pending) {
        boolean wasAside = pending.aside;
        if (answers.fails(pending.seq, now)) {
            plan.failed(pending, now, null);
            AttemptRecord failed = AttemptRecord.failed(pending,
                    new AttemptResult.Failed("500", null), now);
            pending.failures = failed.failures();
            pending.early = false;
            if (failed.isEnd()) {
                disk.remove(pending.seq);
                plan.ended(pending);
                return;
            }
            pending.next = failed.next();
            pending.aside = failed.aside();
            note(pending);
            plan.retried(pending, wasAside);
            return;
        }
        List<QueuedWebhook> out = plan.outOfOrder(pending);
        disk.remove(pending.seq);
        delivered.put(pending.seq, now - pending.stored);
        plan.passed(pending, now, out);
        plan.ended(pending);
        out.forEach(one -> {
            outOfOrder.add(one.seq);
            disk.computeIfPresent(one.seq, (seq, row) -> new Row(row.stored, row.failures, row.next, true));
        });
    }

    private void note(QueuedWebhook pending) {
        disk.put(pending.seq, new Row(pending.stored, pending.failures, pending.next, pending.aside));
        if (pending.aside) {
            outOfOrder.add(pending.seq);
        }
    }

    private List<QueuedWebhook> rows(DispatchPlan.Load load) {
        List<QueuedWebhook> rows = new ArrayList<>();
        int limit = load.inLine() ? SourceQueue.WINDOW : load.source().asideLimit();
        disk.entrySet()
                .stream()
                .filter(row -> row.getValue().aside != load.inLine())
                .filter(row -> !load.inLine() || row.getKey() > load.source().lastSeq())
                .sorted(load.inLine()
                        ? Map.Entry.comparingByKey()
                        : Comparator.comparingLong(row -> row.getValue().next))
                .limit(limit)
                .forEach(row -> rows.add(pending(row.getKey(), row.getValue())));
        read += load.inLine() ? rows.size() : 0;
        return rows;
    }

    private static QueuedWebhook pending(long seq, Row row) {
        var pending = new QueuedWebhook(seq, "id" + seq, RUNTIME, SOURCE, true, row.stored);
        pending.failures = row.failures;
        pending.next = row.next;
        pending.aside = row.aside;
        return pending;
    }
}
