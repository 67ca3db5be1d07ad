package dev.culvert.relay.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.ByteSize;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.TlsCaller;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Uploads to an upstream that stalls, over real sockets. e2e/scripts/memory.py does the same to a small process. */
class MemoryBudgetIT {
    private static final int MAX = 1 << 20;
    private static final int CALLERS = 16;
    private static final int EACH = 400_000;
    /** Fits into the window of a socket that nobody reads, so that the end behind it arrives. */
    private static final int PIECE = 16 << 10;

    private static final Duration STALLED = Duration.ofMillis(500);

    private final EdgeFixture edge = new EdgeFixture(CallerLimits.defaults().holding(new ByteSize(MAX)));
    private final List<TlsCaller> callers = new ArrayList<>();
    /** Of the body of the upload that stalls. */
    private long sent;

    @AfterEach
    void close() {
        callers.forEach(TlsCaller::close);
        edge.close();
    }

    private TlsCaller caller() {
        TlsCaller caller = edge.caller();
        callers.add(caller);
        return caller;
    }

    @Test
    void uploadsThatStallFillTheirShareAndARequestIsServedSoonAfterwards() throws Exception {
        edge.relay.answer(exchange -> exchange.eager = false);
        MemoryBudget memory = edge.quotas.memory();
        List<FakeRelay.Exchange> uploads = new ArrayList<>();
        List<Thread> senders = new ArrayList<>();
        for (int i = 0; i < CALLERS && !isFull(); i++) {
            TlsCaller caller = caller();
            caller.head("POST /", "Content-Length: " + EACH);
            int before = uploads.size();
            senders.add(Thread.ofVirtual().start(() -> caller.send("a".repeat(EACH))));
            await().until(() -> edge.relay.all.size() > before || isFull());
            if (edge.relay.all.size() == before) {
                break; // what the others had under way has filled it meanwhile: this one is refused
            }
            uploads.add(edge.relay.next());
            int open = uploads.size();
            await().until(() -> isFull() || memory.used() >= open * (64L << 10));
        }
        assertThat(isFull()).isTrue();
        assertThat(caller().get("/").readUntil("}")).startsWith("HTTP/1.1 503").contains("overloaded");
        // A runtime gets two fifths of it; what each socket had under way comes on top.
        assertThat(memory.used()).isBetween((long) MAX / 5 * 2, (long) MAX);

        edge.relay.answer(exchange -> exchange.ok("ok"));
        uploads.forEach(upload -> upload.eager = true);
        uploads.forEach(upload -> upload.passOn(upload.receivedBytes.intValue()));

        await().atMost(Duration.ofSeconds(2)).untilAsserted(() -> {
            memory.tick();
            assertThat(caller().get("/").readUntil("\r\n")).startsWith("HTTP/1.1 200");
        });
        await().until(() -> {
            memory.tick();
            return uploads.stream().allMatch(upload -> upload.ended);
        });
        for (Thread sender : senders) {
            sender.join();
        }
        uploads.forEach(upload -> upload.ok("ok")); // until then their heads are held
        await().untilAsserted(() -> assertThat(memory.used()).isZero());
    }

    /** An upload of which a part waits in the edge's socket: the upstream takes nothing. */
    private FakeRelay.Exchange stalledUpload(TlsCaller caller) throws InterruptedException {
        edge.relay.answer(exchange -> exchange.eager = false);
        caller.head("POST /", "Content-Length: " + EACH);
        FakeRelay.Exchange upload = null;
        do {
            caller.send("a".repeat(PIECE));
            sent += PIECE;
            upload = upload == null ? edge.relay.next() : upload;
        } while (isRead(upload));
        return upload;
    }

    /** Waits until all that was sent is read, or nothing more is. */
    private boolean isRead(FakeRelay.Exchange upload) {
        var last = new AtomicLong(-1);
        var since = new AtomicLong();
        await().until(() -> {
            long received = upload.receivedBytes.get();
            if (last.getAndSet(received) != received) {
                since.set(System.nanoTime());
            }
            return received == sent || System.nanoTime() - since.get() > STALLED.toNanos();
        });
        return upload.receivedBytes.get() == sent;
    }

    @Test
    void ofACallerWhoResetsNothingMoreIsRead() throws Exception {
        TlsCaller caller = caller();
        FakeRelay.Exchange upload = stalledUpload(caller);
        long read = upload.receivedBytes.get();

        caller.reset();

        await().until(upload::isOver);
        assertThat(upload.receivedBytes).hasValue(read);
        assertThat(edge.quotas.memory().used()).isZero();
    }

    @Test
    void whatStandsBeforeACallersEndIsReadWhileThereIsMemory() throws Exception {
        TlsCaller caller = caller();
        FakeRelay.Exchange upload = stalledUpload(caller);

        caller.end();

        await().until(upload::isOver);
        assertThat(upload.receivedBytes).hasValue(sent);
    }

    @Test
    void whatStandsBeforeACallersEndIsDroppedWhenTheBudgetIsSpent() throws Exception {
        TlsCaller caller = caller();
        FakeRelay.Exchange upload = stalledUpload(caller);
        long read = upload.receivedBytes.get();
        edge.quotas.memory().take(MAX);

        caller.end();

        await().until(upload::isOver);
        assertThat(upload.receivedBytes).hasValue(read);
        assertThat(edge.quotas.memory().used()).isEqualTo(MAX);
    }

    /** Whether the runtime holds all that it may of the memory budget. */
    private boolean isFull() {
        return edge.quotas.of("id-1", OwnLimits.NONE).memory().isFull();
    }
}
