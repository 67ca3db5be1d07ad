package dev.culvert.platform.host.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.platform.host.spi.Outbox;
import dev.culvert.platform.host.spi.OutboxEntry;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.store.OutboxTable.Stored;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.Rows;
import dev.culvert.store.StoreException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

@ParameterizedClass
@EnumSource
class OutboxTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    /** A message that is claimed, and not given back, waits for 35 s. */
    private static final Duration LESS_THAN_A_CLAIM = Duration.ofSeconds(25);
    /** Few messages and short pauses, so that tests cross them. */
    private static final OutboxLimits FEW = new OutboxLimits(5, 3, 3, 2, Duration.ofSeconds(20),
            Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofDays(7));

    private final Engine engine;

    @TempDir
    Path folder;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final List<String> arrived = Collections.synchronizedList(new ArrayList<>());
    private PlatformStore store;
    private OutboxSender sender;

    OutboxTest(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void open() {
        store = TestStores.open(engine, folder, new ModuleTables(new LinkedHashMap<>()));
        sender = new OutboxSender(store, FEW, Clock.systemUTC(), registry);
    }

    @AfterEach
    void close() {
        sender.stop().block(TIME);
        store.close().block(TIME);
    }

    @Test
    void messagesOfATargetArriveInOrderAlthoughTheFirstFails() {
        var away = new AtomicInteger(3);
        Outbox outbox = sender.of("m");
        outbox.deliver(entry -> away.getAndDecrement() > 0
                ? Mono.error(new IOException("it is away"))
                : arrive(entry));
        add(outbox, "a", "one", "1", "2");
        add(outbox, "a", "two", "x");

        sender.start();

        await().atMost(TIME).until(() -> arrived.size() == 3);
        assertThat(arrived.stream().filter(each -> each.startsWith("one"))).containsExactly("one 1", "one 2");
        await().atMost(TIME).until(() -> Objects.requireNonNull(sender.oldest().block(TIME)).isEmpty());
        assertThat(registry.counter("culvert.outbox.deliveries", "module", "m", "outcome", "failed").count())
                .isEqualTo(3);
    }

    /** {@code -Dculvert.outbox.awaySeconds=120} for the long form. */
    @Test
    void aMessageArrivesOnceItsTargetIsBack() {
        var usual = new OutboxSender(store, OutboxLimits.defaults(), Clock.systemUTC(), registry);
        long back = System.nanoTime()
                + Duration.ofSeconds(Integer.getInteger("culvert.outbox.awaySeconds", 1)).toNanos();
        Outbox outbox = usual.of("m");
        outbox.deliver(entry -> System.nanoTime() - back < 0
                ? Mono.error(new IOException("it is away"))
                : arrive(entry));
        usual.start();
        try {
            add(outbox, "a", "one", "1");
            await().atMost(Duration.ofMinutes(5)).until(() -> arrived.equals(List.of("one 1")));
        } finally {
            usual.stop().block(TIME);
        }
    }

    @Test
    void whatIsAddedWhileItRunsIsSentAtOnceAndWhatFailsIsShown() {
        var there = new AtomicBoolean();
        Outbox outbox = sender.of("m");
        outbox.deliver(entry -> there.get() ? arrive(entry) : Mono.error(new IOException("it is away")));
        sender.start();

        add(outbox, "a", "one", "1");

        await().atMost(TIME)
                .untilAsserted(() -> assertThat(sender.oldest().block(TIME)).singleElement()
                        .satisfies(waiting -> assertThat(waiting.lastError()).contains("it is away")));
        there.set(true);
        await().atMost(TIME).until(() -> arrived.equals(List.of("one 1")));
    }

    @Test
    void aFullOutboxRefusesTheChangeByName() {
        Outbox outbox = sender.of("promotions");
        add(outbox, "a", "t", "1", "2", "3");

        assertThatThrownBy(() -> add(outbox, "a", "t", "4")).isInstanceOf(StoreException.Full.class)
                .hasMessageContaining("the outbox of promotions is full: 3 messages of this account");
        add(outbox, "b", "t", "1", "2");
        assertThatThrownBy(() -> add(outbox, "c", "t", "1")).isInstanceOf(StoreException.Full.class)
                .hasMessageContaining("5 messages");
        assertThat(sender.oldest().block(TIME)).hasSize(5);
    }

    @Test
    void oneAccountsDeadTargetsLeaveRoomForOthers() {
        Outbox outbox = sender.of("m");
        outbox.deliver(entry -> entry.account().equals("dead") ? Mono.never() : arrive(entry));
        add(outbox, "dead", "d1", "1");
        add(outbox, "dead", "d2", "1");
        add(outbox, "dead", "d3", "1");
        add(outbox, "live", "t", "1");

        sender.start();

        await().atMost(TIME).until(() -> arrived.equals(List.of("t 1")));
    }

    @Test
    void aRestartWithManyDeadMessagesOfOneAccountServesTheOthers() {
        var many = new OutboxLimits(1_000, 500, 4, 2, Duration.ofMinutes(1), Duration.ofMillis(5),
                Duration.ofMillis(20), Duration.ofDays(7));
        var restarted = new OutboxSender(store, many, Clock.systemUTC(), registry);
        Outbox outbox = restarted.of("m");
        for (int i = 0; i < 20; i++) {
            add(outbox, "dead", "d" + i, "1");
        }
        add(outbox, "live", "d0", "1");
        outbox.deliver(entry -> entry.account().equals("dead") ? Mono.never() : arrive(entry));
        restarted.start();
        try {
            await().atMost(TIME).until(() -> arrived.equals(List.of("d0 1")));
        } finally {
            restarted.stop().block(TIME);
        }
    }

    @Test
    void aCourierThatBlocksStopsNeitherTheDatabaseNorOthers() {
        Outbox blocking = sender.of("blocks");
        blocking.deliver(entry -> Mono.fromCallable(() -> {
            new CountDownLatch(1).await();
            throw new IllegalStateException("not reached");
        }));
        Outbox outbox = sender.of("m");
        outbox.deliver(this::arrive);
        add(blocking, "a", "t", "1");
        sender.start();

        add(outbox, "b", "t", "1");

        await().atMost(TIME).until(() -> arrived.equals(List.of("t 1")));
    }

    @Test
    void aChangeThatIsRolledBackSendsNothing() {
        Outbox outbox = sender.of("m");
        outbox.deliver(this::arrive);
        sender.start();

        assertThatThrownBy(() -> store.change(connection -> {
            outbox.add(connection, "a", "t", "no");
            throw new IllegalStateException("rolled back");
        }).block(TIME)).hasMessageContaining("rolled back");
        add(outbox, "a", "t", "yes");

        await().atMost(TIME).until(() -> !arrived.isEmpty());
        assertThat(arrived).containsExactly("t yes");
    }

    /** The claim ended while the first process delivered, and the second one delivers the message again. */
    @Test
    void aClaimThatEndedConfirmsAndRefusesNothing() {
        assumeTrue(engine == Engine.POSTGRES);
        add(sender.of("m"), "a", "one", "1");
        Stored first = claimed();
        store.changeRows(change -> Rows.update(change, "UPDATE platform_outbox SET claimed_until = 0"))
                .block(TIME);
        Stored second = claimed();

        assertThat(changed(change -> OutboxTable.remove(engine, change, first))).isFalse();
        assertThat(changed(change -> OutboxTable.failed(engine, change, first, Long.MAX_VALUE, "late")))
                .isFalse();
        store.changeRows(change -> {
            OutboxTable.release(change, List.of(first));
            return true;
        }).block(TIME);
        assertThat(due()).isEmpty();
        assertThat(changed(change -> OutboxTable.failed(engine, change, second, 0, "away"))).isTrue();
        Stored third = claimed();
        assertThat(third.entry().attempt()).isEqualTo(2);
        assertThat(changed(change -> OutboxTable.remove(engine, change, third))).isTrue();
        assertThat(sender.oldest().block(TIME)).isEmpty();
    }

    /** The COMMIT of the claim waited for a replica, for longer than the claim outlasts a delivery. */
    @Test
    void whatWasClaimedLateIsLeftToOthers() {
        assumeTrue(engine == Engine.POSTGRES);
        var nanos = new AtomicLong();
        var step = new AtomicLong(Duration.ofSeconds(16).toNanos());
        var slow = new OutboxSender(store, FEW, Clock.systemUTC(), () -> nanos.addAndGet(step.get()),
                registry);
        slow.of("m").deliver(this::arrive);
        add(slow.of("m"), "a", "one", "1");
        slow.start();
        try {
            await().atMost(TIME)
                    .until(() -> Boolean.TRUE.equals(store.read(connection -> Rows.count(connection,
                            "SELECT count(*) FROM platform_outbox WHERE claim > 1") == 1).block(TIME)));
            assertThat(arrived).isEmpty();
            step.set(0);
            await().atMost(TIME).until(() -> arrived.equals(List.of("one 1")));
        } finally {
            slow.stop().block(TIME);
        }
    }

    private Stored claimed() {
        return due().getFirst();
    }

    private List<Stored> due() {
        return Objects.requireNonNull(store.changeRows(change -> OutboxTable.due(engine, change,
                System.currentTimeMillis(), List.of(), List.of(), List.of("m"), FEW, TIME)).block(TIME));
    }

    private boolean changed(Store.Work<Boolean> work) {
        return Boolean.TRUE.equals(store.changeRows(work).block(TIME));
    }

    /** A last message to a target that still gets one would be overtaken. */
    @Test
    void whatIsBeingDeliveredStaysWhenItsAccountEnds() {
        Sinks.Empty<Void> end = Sinks.empty();
        var begun = new CountDownLatch(1);
        Outbox outbox = sender.of("m");
        outbox.deliver(entry -> entry.body().equals("create")
                ? end.asMono().doOnSubscribe(subscribed -> begun.countDown()).then(arrive(entry))
                : arrive(entry));
        sender.start();
        add(outbox, "a", "one", "create");
        await().atMost(TIME).until(() -> begun.getCount() == 0);
        add(outbox, "a", "one", "update");

        store.change(change -> {
            sender.accountEnded(change, "a");
            outbox.add(change, "a", "one", "delete");
            return true;
        }).block(TIME);

        assertThat(sender.oldest().block(TIME)).hasSize(2);
        assertThat(arrived).isEmpty();
        end.tryEmitEmpty();
        await().atMost(TIME).until(() -> arrived.size() == 2);
        assertThat(arrived).containsExactly("one create", "one delete");
        await().atMost(TIME).until(() -> Objects.requireNonNull(sender.oldest().block(TIME)).isEmpty());
    }

    /** The server is asked for messages when this process stops: it may have claimed some. */
    @Test
    void aStopGivesBackWhatIsClaimedMeanwhile() {
        add(sender.of("m"), "a", "t", "1");
        var stop = new CompletableFuture<@Nullable Void>();
        var stopping = new AtomicReference<@Nullable OutboxSender>();
        var first = new OutboxSender(store, FEW, Clock.systemUTC(), () -> {
            OutboxSender asking = stopping.getAndSet(null);
            if (asking != null) {
                asking.stop().subscribe(none -> {}, stop::completeExceptionally, () -> stop.complete(null));
            }
            return System.nanoTime();
        }, new SimpleMeterRegistry());
        first.of("m").deliver(this::arrive);
        stopping.set(first);
        first.start();
        stop.orTimeout(TIME.toSeconds(), TimeUnit.SECONDS).join();

        assertThat(Objects.requireNonNull(sender.oldest().block(TIME))).singleElement()
                .satisfies(waiting -> assertThat(waiting.attempts()).isZero());
        assertThat(arrived).isEmpty();
        sender.of("m").deliver(this::arrive);
        sender.start();
        await().atMost(LESS_THAN_A_CLAIM).until(() -> arrived.equals(List.of("t 1")));
    }

    @Test
    void aMessageOfAKilledProcessArrives() throws Exception {
        assumeTrue(engine == Engine.SQLITE); // a server's are claimed for a while: two_control_planes.py
        Path other = folder.resolve("killed");
        Process process = new ProcessBuilder(ProcessHandle.current().info().command().orElse("java"), "-cp",
                System.getProperty("java.class.path"), "--enable-native-access=ALL-UNNAMED",
                Killed.class.getName(), other.toString()).redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var out = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = out.readLine();
            while (line != null && !line.equals("stored")) {
                line = out.readLine();
            }
            assertThat(line).isEqualTo("stored");
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor(TIME.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(128 + 9);

        PlatformStore left = store(other);
        var successor = new OutboxSender(left, FEW, Clock.systemUTC(), registry);
        try {
            successor.of("m").deliver(this::arrive);
            successor.start();
            await().atMost(TIME).until(() -> arrived.equals(List.of("t before the kill")));
        } finally {
            successor.stop().block(TIME);
            left.close().block(TIME);
        }
    }

    /** Stores a message whose delivery never ends, and waits to be killed. */
    static final class Killed {
        private Killed() {}

        public static void main(String[] folder) throws InterruptedException {
            PlatformStore store = store(Path.of(folder[0]));
            var sender = new OutboxSender(store, FEW, Clock.systemUTC(), new SimpleMeterRegistry());
            sender.of("m").deliver(entry -> Mono.never());
            sender.start();
            add(store, sender.of("m"), "a", "t", "before the kill");
            System.out.println("stored");
            Thread.currentThread().join();
        }
    }

    private Mono<Void> arrive(OutboxEntry entry) {
        return Mono.fromRunnable(() -> arrived.add(entry.target() + " " + entry.body()));
    }

    private void add(Outbox outbox, String account, String target, String... bodies) {
        add(store, outbox, account, target, bodies);
    }

    private static void add(PlatformStore store, Outbox outbox, String account, String target,
            String... bodies) {
        store.change(connection -> {
            for (String body : bodies) {
                outbox.add(connection, account, target, body);
            }
            return true;
        }).block(TIME);
    }

    private static PlatformStore store(Path folder) {
        return TestStores.open(Engine.SQLITE, folder, new ModuleTables(new LinkedHashMap<>()));
    }
}
