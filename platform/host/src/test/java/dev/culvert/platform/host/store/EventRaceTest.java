package dev.culvert.platform.host.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.platform.host.spi.Event;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.postgres.testing.TestServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Writers of two processes at once, some of which commit late. {@code -Dculvert.feed.events=10000} for the long form. */
class EventRaceTest {
    private static final Duration TIME = Duration.ofMinutes(2);
    private static final int EVENTS = Integer.getInteger("culvert.feed.events", 2_000);
    private static final ModuleTables NONE = new ModuleTables(new LinkedHashMap<>());

    @Test
    void aReaderMissesNoEventThatIsCommittedLate() {
        DatabaseServer server = TestServer.database();
        PlatformStore one = TestStores.open(server, NONE);
        PlatformStore two = TestStores.open(server, NONE);
        // Runs in COMMIT: the number is there, and what others would read is not yet.
        TestServer.execute(server.database(),
                "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                        + " IF random() < 0.02 THEN PERFORM pg_sleep(random() * 0.05); END IF; RETURN NULL; END $$");
        TestServer.execute(server.database(), "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON platform_events"
                + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()");
        List<EventFeed> feeds = List.of(new EventFeed(one, 100_000), new EventFeed(two, 100_000));
        List<PlatformStore> stores = List.of(one, two);
        List<Event> seen = Collections.synchronizedList(new ArrayList<>());
        var begun = new AtomicBoolean();
        Disposable following = feeds.get(1).of("m").follow(isCurrent -> begun.set(true)).subscribe(seen::add);
        await().atMost(TIME).untilTrue(begun);

        Flux.range(0, EVENTS)
                .flatMap(i -> stores.get(i % 2).change("account " + i % 7, connection -> {
                    feeds.get(i % 2).of("m").add(connection, "account " + i % 7, "thing", String.valueOf(i));
                    return i;
                }), 24)
                .blockLast(TIME);

        await().atMost(TIME).until(() -> seen.size() >= EVENTS);
        assertThat(seen).extracting(Event::seq).isSorted().doesNotHaveDuplicates();
        assertThat(seen).extracting(Event::subject)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, EVENTS).mapToObj(String::valueOf).toList());
        following.dispose();
        one.close().block(TIME);
        two.close().block(TIME);
    }

    @Test
    void messagesOfTwoProcessesAreDeliveredOnceAndInOrder() {
        DatabaseServer server = TestServer.database();
        List<PlatformStore> stores = List.of(TestStores.open(server, NONE), TestStores.open(server, NONE));
        List<String> arrived = Collections.synchronizedList(new ArrayList<>());
        List<OutboxSender> senders = stores.stream()
                .map(store -> new OutboxSender(store, OutboxLimits.defaults(), Clock.systemUTC(),
                        new SimpleMeterRegistry()))
                .toList();
        var outboxes = senders.stream().map(sender -> sender.of("m")).toList();
        outboxes.forEach(outbox -> outbox.deliver(entry -> Mono
                .fromRunnable(
                        () -> arrived.add(entry.account() + " " + entry.target() + " " + entry.body()))));
        senders.forEach(OutboxSender::start);

        for (int i = 0; i < 300; i++) {
            int number = i;
            stores.get(i % 2).change("account " + i % 3, connection -> {
                outboxes.get(number % 2)
                        .add(connection, "account " + number % 3, "t" + number % 5, String.valueOf(number));
                return number;
            }).block(TIME);
        }

        await().atMost(TIME).until(() -> arrived.size() >= 300);
        assertThat(arrived).hasSize(300).doesNotHaveDuplicates();
        for (int account = 0; account < 3; account++) {
            for (int target = 0; target < 5; target++) {
                String receiver = "account " + account + " t" + target + " ";
                assertThat(arrived.stream()
                        .filter(each -> each.startsWith(receiver))
                        .map(each -> Integer.valueOf(each.substring(receiver.length())))).isSorted();
            }
        }
        senders.forEach(sender -> sender.stop().block(TIME));
        stores.forEach(store -> store.close().block(TIME));
    }
}
