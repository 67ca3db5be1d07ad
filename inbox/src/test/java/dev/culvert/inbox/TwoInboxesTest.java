package dev.culvert.inbox;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.inbox.model.WebhookState;
import dev.culvert.store.SqliteLease;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two processes on one folder, as during an upgrade: both store, one delivers. */
class TwoInboxesTest {
    private static final String PUSH = "/webhooks/argo/push/";

    @TempDir
    Path folder;

    @Test
    void eachWebhookIsDeliveredOnceAndInOrderWhoeverStoredIt() {
        try (var old = new InboxFixture(folder); var next = new InboxFixture(folder)) {
            old.runtime.answer(exchange -> exchange.ok("ok"));
            next.runtime.answer(exchange -> exchange.ok("ok"));
            await().until(() -> old.inbox.isDelivering() || next.inbox.isDelivering());
            InboxFixture holder = old.inbox.isDelivering() ? old : next;
            InboxFixture other = holder == old ? next : old;

            Reply stored = other.post(PUSH + 0, "{}");
            assertThat(stored.status()).isEqualTo(202);
            holder.tick();
            await().until(() -> state(other, stored) == WebhookState.DELIVERED);
            for (int i = 1; i < 20; i++) {
                (i % 2 == 0 ? holder : other).post(PUSH + i, "{}").await();
            }
            holder.tick();
            await().until(() -> holder.runtime.all.size() == 20);
            assertThat(other.runtime.all).isEmpty();
            assertThat(holder.runtime.all.stream().map(sent -> sent.path()).toList())
                    .isEqualTo(paths(0, 20));

            holder.inbox.release().block();
            other.tick();
            await().until(other.inbox::isDelivering);
            holder.post(PUSH + 20, "{}").await();
            other.tick();
            await().until(() -> other.runtime.all.size() == 1);
            assertThat(other.runtime.all.getFirst().path()).isEqualTo(PUSH + 20);
            assertThat(holder.runtime.all).hasSize(20);
        }
    }

    @Test
    void aHolderThatSleptBeyondItsLeaseSendsNothingMore() throws InterruptedException {
        try (var slept = new InboxFixture(folder)) {
            await().until(slept.inbox::isDelivering);
            slept.post(PUSH, "{}");
            var underWay = slept.runtime.next();
            var late = new MovableClock();
            late.advance(SqliteLease.LIFE.plusSeconds(60));
            try (var next = new InboxFixture(folder, InboxFixture.CONFIG, late)) {
                await().until(next.inbox::isDelivering);

                slept.tick();
                await().until(() -> underWay.cancelled != null && !slept.inbox.isDelivering());
                var repeated = next.runtime.next();
                assertThat(repeated.request.fields().get("culvert-delivery-attempt")).hasToString("2");
                Reply other = slept.post(PUSH + 2, "{}");
                assertThat(other.status()).isEqualTo(202);
                repeated.ok("ok");
                assertThat(next.runtime.next().path()).isEqualTo(PUSH + 2);
                assertThat(slept.runtime.all).hasSize(1);
            }
        }
    }

    @Test
    void whatIsUnderWayAtAReleaseEndsBeforeAnotherDelivers() throws InterruptedException {
        var clock = new MovableClock();
        try (var old = new InboxFixture(folder, InboxFixture.CONFIG, clock);
                var next = new InboxFixture(folder, InboxFixture.CONFIG, clock)) {
            await().until(() -> old.inbox.isDelivering() || next.inbox.isDelivering());
            InboxFixture holder = old.inbox.isDelivering() ? old : next;
            InboxFixture other = holder == old ? next : old;
            Reply reply = holder.post(PUSH, "{}");
            var underWay = holder.runtime.next();

            var released = holder.inbox.release().toFuture();
            for (int beats = 0; beats < 6; beats++) {
                clock.advance(SqliteLease.BEAT);
                committed(holder);
                committed(other);
            }
            assertThat(other.inbox.isDelivering()).isFalse();
            underWay.ok("ok");

            released.join();
            assertThat(reply.body()).isEqualTo("ok");
            other.tick();
            await().until(other.inbox::isDelivering);
            assertThat(state(other, reply)).isEqualTo(WebhookState.DELIVERED);
            assertThat(other.runtime.all).isEmpty();
        }
    }

    @Test
    void aReleasedInboxDoesNotTakeItsLeaseBack() {
        var clock = new MovableClock();
        try (var old = new InboxFixture(folder, InboxFixture.CONFIG, clock)) {
            await().until(old.inbox::isDelivering);
            old.inbox.release().block();
            Reply stored = old.post(PUSH, "{}");
            for (int beats = 0; beats < 6; beats++) {
                clock.advance(SqliteLease.BEAT);
                committed(old);
            }

            try (var next = new InboxFixture(folder, InboxFixture.CONFIG, clock)) {
                next.runtime.answer(exchange -> exchange.ok("ok"));
                await().until(next.inbox::isDelivering);
                await().until(() -> state(next, stored) == WebhookState.DELIVERED);
                for (int beats = 0; beats < 6; beats++) {
                    clock.advance(SqliteLease.BEAT);
                    committed(old);
                    committed(next);
                }
                assertThat(next.inbox.isDelivering()).isTrue();
                assertThat(old.inbox.isDelivering()).isFalse();
            }
        }
    }

    /** A look at the lease, and whatever it leads to on the disk. */
    private static void committed(InboxFixture fixture) {
        fixture.tick();
        fixture.inbox.webhooks().resume("none", "none").block();
    }

    private static List<String> paths(int from, int to) {
        return Stream.iterate(from, i -> i < to, i -> i + 1).map(i -> PUSH + i).toList();
    }

    private static WebhookState state(InboxFixture fixture, Reply reply) {
        return await(fixture.inbox.webhooks().entry(reply.id())).state();
    }
}
