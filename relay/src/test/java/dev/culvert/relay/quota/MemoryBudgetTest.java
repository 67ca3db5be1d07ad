package dev.culvert.relay.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.exchange.EdgeProblems;
import dev.culvert.relay.inbound.EmbeddedEdge;
import dev.culvert.relay.quota.RuntimeUsage.Refusal;
import io.netty.channel.DefaultEventLoop;
import io.netty.util.NetUtil;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the edge does when its memory is spent. */
class MemoryBudgetTest {
    /** From here on it is spent. */
    private static final int MAX = 1 << 20;
    /** With the reserve. */
    private static final int ALL = MAX + MAX / 4;
    /** From here on it is spent for all. */
    private static final int GONE = ALL - ALL / 20;
    private static final String GET = "GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n";
    private static final String POST = "POST / HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 100000\r\n\r\n";

    private final AtomicLong direct = new AtomicLong();
    private final MemoryBudget budget = new MemoryBudget(ALL, direct::get, 8 * MAX);
    private final List<SourceAddress> slow = new ArrayList<>();
    private final MemoryShare share = new MemoryShare(budget, slow::add);
    private final Tasks loop = new Tasks();
    private final EmbeddedEdge edge = new EmbeddedEdge(CallerLimits.defaults(), budget);

    @AfterEach
    void close() {
        edge.close();
        budget.tick();
        assertThat(budget.used()).isZero();
    }

    /** An event loop whose tasks run when the test says so. */
    private static final class Tasks extends DefaultEventLoop {
        private final Queue<Runnable> tasks = new ArrayDeque<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        void runTasks() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }
    }

    private void fill(int bytes) {
        budget.take(bytes);
    }

    private void empty(int bytes) {
        budget.give(bytes);
        budget.tick();
    }

    @Test
    void itIsSpentUntilItHasFallenToThreeQuarters() {
        budget.take(MAX - 1);
        assertThat(budget.isSpent()).isFalse();
        budget.take(1);
        assertThat(budget.isSpent()).isTrue();

        empty(MAX / 4 - 1);
        assertThat(budget.isSpent()).isTrue();
        empty(1);
        assertThat(budget.isSpent()).isFalse();
        empty(MAX / 4 * 3);
    }

    @Test
    void itIsSpentWhenTheAllocatorHasTakenMostOfTheDirectMemory() {
        direct.set(7L * MAX);
        budget.tick();
        assertThat(budget.isSpent()).isTrue();

        direct.set(6L * MAX + 1);
        budget.tick();
        assertThat(budget.isSpent()).isTrue();
        direct.set(6L * MAX);
        budget.tick();
        assertThat(budget.isSpent()).isFalse();
    }

    @Test
    void withoutDirectMemoryTheHeaviestSourceGivesWayAndLightOnesGoOn() {
        List<String> lost = new ArrayList<>();
        BudgetedBytes heavy = held("192.0.2.1", MAX / 8, () -> lost.add("heavy"));
        BudgetedBytes light = held("192.0.2.2", MAX / 128, () -> lost.add("light"));
        direct.set(7L * MAX);
        budget.tick();

        assertThat(light.mayBegin()).isTrue();
        assertThat(light.isStopped()).isFalse();
        assertThat(heavy.mayBegin()).isFalse();
        budget.tick();
        loop.runTasks();

        assertThat(lost).containsExactly("heavy");
        heavy.close();
        light.close();
        direct.set(0);
    }

    @Test
    void aRuntimeIsFullAtHalfOfItAndTheOthersGoOn() {
        share.take(MAX / 2);

        assertThat(share.isSpent()).isTrue();
        assertThat(new MemoryShare(budget).isSpent()).isFalse();
        assertThat(budget.isSpent()).isFalse();
        share.give(MAX / 8);
        assertThat(share.isSpent()).isFalse();
        share.give(MAX / 8 * 3);
    }

    @Test
    void aNewRequestIs503WhileItIsSpentAndIsServedAfterwards() {
        edge.relay.answer(exchange -> exchange.ok("ok"));
        fill(GONE);

        assertThat(edge.send(GET)).startsWith("HTTP/1.1 503")
                .contains("overloaded", "\"hop\":\"edge\"", "Retry-After: 1\r\n");
        assertThat(edge.relay.all).isEmpty();
        assertThat(edge.usage().refusals(Refusal.MEMORY)).isEqualTo(1);
        empty(GONE);
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200");
    }

    @Test
    void aSourceThatHoldsNextToNothingIsServedFromTheReserve() {
        edge.relay.answer(exchange -> exchange.ok("ok"));
        fill(MAX - MAX / 32);
        BudgetedBytes heavy = held("192.0.2.1", MAX / 32, () -> {});
        BudgetedBytes light = held("192.0.2.2", MAX / 128, () -> {});
        assertThat(budget.isSpent()).isTrue();

        assertThat(heavy.mayBegin()).isFalse();
        assertThat(heavy.isStopped()).isTrue();
        assertThat(light.mayBegin()).isTrue();
        assertThat(light.isStopped()).isFalse();
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 200");
        fill(MAX / 4);
        assertThat(light.mayBegin()).isFalse();
        assertThat(edge.send(GET)).startsWith("HTTP/1.1 503");

        heavy.close();
        light.close();
        empty(ALL - MAX / 32);
    }

    @Test
    void aFullShareKeepsAReserveForSourcesThatHoldNextToNothing() {
        BudgetedBytes heavy = held("192.0.2.1", MAX / 2, () -> {});
        BudgetedBytes light = held("192.0.2.2", MAX / 128, () -> {});

        assertThat(heavy.mayBegin()).isFalse();
        assertThat(heavy.isStopped()).isTrue();
        assertThat(light.mayBegin()).isTrue();
        assertThat(light.isStopped()).isFalse();
        share.take(MAX / 4);
        assertThat(light.mayBegin()).isFalse();

        share.give(MAX / 4);
        heavy.close();
        light.close();
    }

    @Test
    void manySmallExchangesOfASourceCountWhileHalfOfTheShareIsTaken() {
        List<BudgetedBytes> all = new ArrayList<>(List.of(held("192.0.2.1", MAX / 2, () -> {})));
        for (int i = 0; i < 17; i++) {
            all.add(held("192.0.2.2", 1 << 10, () -> {}));
        }

        assertThat(all.getLast().mayBegin()).isFalse();
        BudgetedBytes other = held("192.0.2.3", 1, () -> {});
        assertThat(other.mayBegin()).isTrue();

        all.forEach(BudgetedBytes::close);
        other.close();
    }

    @Test
    void aSilentCallerIsNotWaitedForWhileItIsSpent() {
        CallerLimits usual = CallerLimits.defaults();
        CallerLimits impatient = usual.within(usual.headTimeout(), Duration.ofMillis(250),
                usual.responseHeadTimeout(), usual.idleTimeout());
        try (var silent = new EmbeddedEdge(impatient, budget)) {
            silent.send(POST);
            fill(GONE);

            await().until(() -> silent.send("").startsWith("HTTP/1.1 408"));

            empty(GONE);
        }
    }

    @Test
    void aCallerIsNotReadWhileItIsSpent() {
        edge.send(POST);
        fill(GONE);
        edge.send("a");
        assertThat(edge.isReading()).isFalse();

        empty(GONE);

        assertThat(edge.send("b")).isEmpty();
        assertThat(edge.isReading()).isTrue();
        edge.send("c".repeat(99_998));
        assertThat(edge.only().receivedBytes).hasValue(100_000);
    }

    @Test
    void aRuntimeGetsNoGrantsWhileItIsSpent() {
        edge.send(GET);
        fill(GONE);
        edge.only().head("200", false).body(1000);
        edge.written();
        assertThat(edge.only().consumed).hasValue(0);

        empty(GONE);
        edge.written();

        assertThat(edge.only().consumed).hasValue(1000);
    }

    @Test
    void anAnswerThatWasGrantedEndsWhereThereIsNoRoomForIt() {
        edge.send(GET);
        edge.only().head("200", false, "content-length", "100000");
        edge.written();
        edge.block(true);
        fill(ALL - 8_000);

        edge.only().body(4_000);
        assertThat(edge.only().cancelled).isNull();
        edge.only().body(4_000);

        assertThat(edge.only().cancelled).isEqualTo(EdgeProblems.TOO_SLOW);
        edge.written();
        assertThat(edge.isOpen()).isFalse();
        assertThat(budget.used()).isEqualTo(ALL - 8_000);
        empty(ALL - 8_000);
    }

    @Test
    void anUploadThatWasGrantedEndsWhereThereIsNoRoomForIt() {
        edge.relay.answer(exchange -> exchange.eager = false);
        edge.send(POST);
        fill(ALL - 8_000);

        assertThat(edge.send("a".repeat(4_000))).isEmpty();
        assertThat(edge.send("a".repeat(4_000))).startsWith("HTTP/1.1 503").contains("overloaded");

        assertThat(edge.only().cancelled).isEqualTo(EdgeProblems.GAVE_WAY);
        empty(ALL - 8_000);
    }

    @Test
    void theLastTenthIsForSourcesThatHoldNextToNothing() {
        BudgetedBytes heavy = held("192.0.2.1", MAX / 32, () -> {});
        BudgetedBytes light = held("192.0.2.2", MAX / 128, () -> {});
        fill(ALL - ALL / 10 - MAX / 16);
        assertThat(heavy.isTooMuch()).isFalse();

        fill(MAX / 16);

        assertThat(heavy.isTooMuch()).isTrue();
        assertThat(light.isTooMuch()).isFalse();
        fill(ALL / 10);
        assertThat(light.isTooMuch()).isTrue();
        heavy.close();
        light.close();
        empty(ALL);
    }

    @Test
    void everyByteIsReportedAtTheEndThoughItIsSpent() {
        edge.send(GET);
        fill(MAX);
        edge.only().head("200", false).body(1000).body(500).end();
        edge.written();

        assertThat(edge.only().consumed).hasValue(1500);
        empty(MAX);
    }

    @Test
    void bytesCountFromTheSocketToTheSocket() {
        edge.relay.answer(exchange -> exchange.eager = false);
        edge.send(POST);
        long head = budget.used();
        edge.send("a".repeat(1000));
        assertThat(budget.used()).isEqualTo(head + BudgetedBytes.PART_BYTES + 1000);
        edge.only().passOn(400);
        assertThat(budget.used()).isEqualTo(head + BudgetedBytes.PART_BYTES + 600);
        edge.only().head("200", false).body(50);
        edge.written();

        assertThat(budget.used()).isEqualTo(head + BudgetedBytes.PART_BYTES + 600);
        edge.only().passOn(600);
        assertThat(budget.used()).isEqualTo(head);
    }

    @Test
    void aHeadCountsAsItIsDecodedUntilTheEnd() {
        edge.send("GET / HTTP/1.1\r\nHost: acme.example\r\nX-Large: " + "a".repeat(10_000) + "\r\n\r\n");
        assertThat(budget.used()).isBetween(10_000L, 12_000L);

        edge.only().ok("ok");
        edge.written();

        assertThat(budget.used()).isZero();
    }

    @Test
    void informationalHeadsWaitForNoCaller() {
        edge.send(GET);
        edge.block(true);
        edge.only().informational("103");
        int before = edge.waitingWrites();
        edge.writable(false);

        for (int i = 0; i < 1_000; i++) {
            edge.only().informational("103");
        }

        assertThat(edge.waitingWrites()).isEqualTo(before);
        edge.writable(true);
        edge.block(false);
        edge.only().ok("ok");
        assertThat(edge.written()).contains("HTTP/1.1 103", "HTTP/1.1 200");
    }

    /** An exchange of this address that holds so much. */
    private BudgetedBytes held(String address, int bytes, Runnable giveWay) {
        var exchange = new BudgetedBytes(loop, (request, response) -> {}, giveWay);
        exchange.of(share, address);
        exchange.take(bytes);
        return exchange;
    }

    @Test
    void theLargestSourceGivesWayWithItsNewestExchange() {
        List<String> gone = new ArrayList<>();
        List<BudgetedBytes> all = List.of(held("192.0.2.1", MAX / 2, () -> gone.add("old")),
                held("192.0.2.1", MAX / 8 * 3, () -> gone.add("new")),
                held("192.0.2.2", MAX / 8, () -> gone.add("other")));
        assertThat(budget.isSpent()).isTrue();

        budget.asks(SourceAddress.of(NetUtil.createInetAddressFromIpAddressString("192.0.2.3")));
        budget.tick();
        loop.runTasks();

        assertThat(gone).containsExactly("new");
        all.forEach(BudgetedBytes::close);
        assertThat(budget.sources().used()).isZero();
    }

    @Test
    void anExchangeThatIsOverMeanwhileDoesNotGiveWay() {
        List<String> gone = new ArrayList<>();
        BudgetedBytes large = held("192.0.2.1", MAX, () -> gone.add("large"));
        BudgetedBytes small = held("192.0.2.2", BudgetedBytes.CLAIMED_FROM, () -> gone.add("small"));
        budget.sources().shedHeaviest(1);

        large.close();
        loop.runTasks();

        assertThat(gone).isEmpty();
        small.close();
    }

    @Test
    void aSourceAloneWaitsAndLosesNothing() {
        List<String> gone = new ArrayList<>();
        BudgetedBytes all = held("192.0.2.1", MAX, () -> gone.add("only"));

        budget.asks(SourceAddress.of(NetUtil.createInetAddressFromIpAddressString("192.0.2.1")));
        budget.tick();
        loop.runTasks();

        assertThat(gone).isEmpty();
        all.close();
    }

    @Test
    void aReaderThatTricklesIsCutWhenMemoryIsShort() {
        List<String> cut = new ArrayList<>();
        Lag slow = new Lag(loop, () -> {}, () -> cut.add("slow"));
        Lag fast = new Lag(loop, () -> {}, () -> cut.add("fast"));
        slow.waits(MAX / 2, share);
        fast.waits(MAX / 2, share);
        fill(MAX);
        slow.taken(Lag.MIN_BYTES - 1);
        long soon = System.nanoTime() + Lag.PATIENCE.toNanos();

        fast.taken(Lag.MIN_BYTES);
        assertThat(fast.isSlow(soon)).isFalse();
        budget.tick(soon);
        loop.runTasks();

        assertThat(cut).containsExactly("slow");
        slow.close();
        fast.close();
        empty(MAX);
    }

    @Test
    void slowReadersStayWhileThereIsMemory() {
        List<String> cut = new ArrayList<>();
        Lag slow = new Lag(loop, () -> {}, () -> cut.add("slow"));
        slow.waits(MAX / 4, share);

        budget.tick(System.nanoTime() + 10 * Lag.PATIENCE.toNanos());
        loop.runTasks();

        assertThat(cut).isEmpty();
        slow.close();
    }

    /** A caller that has not read this much of its response. */
    private final class Reader implements AutoCloseable {
        final BudgetedBytes held;
        final Lag lag;

        Reader(String address, int bytes, Runnable cut) {
            held = held(address, bytes, () -> {});
            lag = Lag.ofReader(loop, () -> {}, cut, held);
            lag.waits(bytes, share);
        }

        void reads(int bytes) {
            held.give(bytes);
            lag.taken(bytes);
        }

        @Override
        public void close() {
            lag.close();
            held.close();
        }
    }

    /** Readers of one address, each of which closes when it is cut, and says so. */
    private List<Reader> readers(int count, String address, int bytes, List<String> cut) {
        List<Reader> readers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = address + "#" + i;
            int at = i;
            readers.add(new Reader(address, bytes, () -> {
                cut.add(name);
                readers.get(at).close();
            }));
        }
        return readers;
    }

    @Test
    void overHalfOfAShareTheSlowestReaderOfTheHeaviestSourceGivesWayWhateverItsRate() {
        List<String> cut = new ArrayList<>();
        List<Reader> honest = readers(2, "192.0.2.2", MAX / 32, cut);
        List<Reader> heavy = readers(3, "192.0.2.1", MAX / 16, cut);
        heavy.getFirst().reads(MAX / 16);
        heavy.getFirst().held.take(MAX / 16);
        heavy.getFirst().lag.waits(MAX / 16, share); // it keeps up, so the next one is the slowest
        heavy.get(1).reads(Lag.MIN_BYTES);
        share.take(MAX / 32);
        long soon = System.nanoTime() + Lag.PATIENCE.toNanos();

        budget.tick(System.nanoTime());
        loop.runTasks();
        assertThat(cut).isEmpty();
        budget.tick(soon);
        budget.tick(soon); // who is to give way has not done so yet
        loop.runTasks();

        assertThat(cut).containsExactly("192.0.2.1#1");
        honest.forEach(Reader::close);
        heavy.forEach(Reader::close);
        share.give(MAX / 32);
    }

    @Test
    void aSourceWithMoreReadersGivesWayBeforeOneWithFewThatHoldMore() {
        List<String> cut = new ArrayList<>();
        List<Reader> few = readers(1, "192.0.2.2", MAX / 8, cut);
        List<Reader> many = readers(6, "192.0.2.1", MAX / 32, cut);
        share.take(MAX / 32);

        budget.tick(System.nanoTime() + Lag.PATIENCE.toNanos());
        loop.runTasks();

        assertThat(cut).containsExactly("192.0.2.1#0", "192.0.2.1#1", "192.0.2.1#2", "192.0.2.1#3");
        few.forEach(Reader::close);
        many.forEach(Reader::close);
        share.give(MAX / 32);
    }

    @Test
    void aShareThatSeveralSourcesUseIsNotOvershotByWhatWasGranted() {
        List<String> cut = new ArrayList<>();
        List<Reader> all = readers(10, "192.0.2.1", MAX / 16, cut);
        Reader last = all.getLast();
        assertThat(last.held.mayBegin()).isFalse();
        last.held.isTooMuch();
        loop.runTasks();
        assertThat(cut).isEmpty(); // it is alone

        BudgetedBytes other = held("192.0.2.2", 1, () -> {});
        assertThat(other.mayBegin()).isTrue();
        last.held.isTooMuch();
        last.held.isTooMuch();
        loop.runTasks();

        assertThat(cut).hasSize(5).contains("192.0.2.1#0", "192.0.2.1#4");
        assertThat(share.isFull()).isFalse();
        other.close();
        all.forEach(Reader::close);
    }

    @Test
    void aLightSourceIsServedAtOnceByReadersThatGiveWay() {
        List<String> cut = new ArrayList<>();
        List<Reader> all = readers(13, "192.0.2.1", MAX / 16, cut);
        all.getLast().held.isTooMuch();
        assertThat(cut).isEmpty(); // it is alone, and beyond the reserve
        assertThat(all.getLast().held.mayBegin()).isFalse();

        BudgetedBytes other = held("192.0.2.2", 1, () -> {});
        assertThat(other.mayBegin()).isTrue();
        assertThat(other.isStopped()).isFalse();
        fill(MAX / 8 * 3);
        assertThat(other.isTooMuch()).isFalse();
        empty(MAX / 8 * 3);
        loop.runTasks();

        assertThat(cut).startsWith("192.0.2.1#0").hasSizeBetween(5, 8);
        assertThat(share.isFull()).isFalse();
        other.close();
        all.forEach(Reader::close);
    }

    @Test
    void aLightSourceIsServedAtOnceByHeavierOnesThatGiveWay() {
        List<String> gone = new ArrayList<>();
        fill(GONE - MAX / 2);
        BudgetedBytes heavy = held("192.0.2.1", MAX / 2, () -> gone.add("heavy"));
        BudgetedBytes light = held("192.0.2.2", 1, () -> gone.add("light"));
        assertThat(heavy.mayBegin()).isFalse();

        assertThat(light.mayBegin()).isTrue();
        loop.runTasks();

        assertThat(gone).containsExactly("heavy");
        heavy.close();
        light.close();
        empty(GONE - MAX / 2);
    }

    @Test
    void ofSourcesThatWeighTheSameTheOneThatReadsStays() {
        List<String> cut = new ArrayList<>();
        List<Reader> all = new ArrayList<>();
        for (int i = 1; i <= 8; i++) {
            all.addAll(readers(1, "192.0.2." + i, MAX / 8, cut));
        }
        Reader fast = all.get(3);
        fast.reads(MAX / 8);
        fast.held.take(MAX / 8);
        fast.lag.waits(MAX / 8, share);

        share.shedSlow(MAX / 8 * 7, System.nanoTime() + 2 * Lag.PATIENCE.toNanos());
        loop.runTasks();

        assertThat(slow).hasSize(7);
        assertThat(cut).hasSize(7).doesNotContain("192.0.2.4#0");
        all.forEach(Reader::close);
    }

    @Test
    void partsThatAreNotMergedCostAnObject() {
        BudgetedBytes held = held("192.0.2.1", 1, () -> {});
        held.take(1);
        held.take(1);
        assertThat(budget.used()).isEqualTo(3 + BudgetedBytes.PART_BYTES);
        held.take(2_000);
        assertThat(budget.used()).isEqualTo(2_003 + 2 * BudgetedBytes.PART_BYTES);

        held.give(2_003);
        assertThat(budget.used()).isZero();
        held.close();
    }
}
