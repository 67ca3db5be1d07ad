package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.certs.Sha256;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.StoredToken;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Who may change a database that several processes open. */
class SqliteLeaseTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(300);

    @TempDir
    Path folder;
    private final MovableClock clock = new MovableClock();
    private final List<RuntimeStore> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(store -> store.close().block());
    }

    @Test
    void aSecondOneIsToldWhoHoldsTheDatabase() {
        open(clock, Duration.ZERO);

        assertThatThrownBy(() -> open(clock, Duration.ZERO)).isInstanceOf(StoreException.Held.class)
                .hasMessageContaining(folder.resolve("culvert.db").toString())
                .hasMessageContaining(", pid " + ProcessHandle.current().pid())
                .hasMessageContaining("since 2026-01-02T03:04:05Z")
                .hasMessageContaining("until 2026-01-02T03:04:13Z");
    }

    @Test
    void aReleasedDatabaseIsTakenAtOnceAndItsOldHolderAnswersFromMemory() {
        RuntimeStore old = open(clock, Duration.ZERO);
        RegisteredRuntime runtime = runtime("prod");
        await(old.create(runtime, token(runtime)));

        old.release().block();
        RuntimeStore next = open(clock, Duration.ZERO);

        assertThat(old.byName(runtime.name())).isEqualTo(runtime);
        assertThat(next.byName(runtime.name())).isEqualTo(runtime);
        StepVerifier.create(old.delete(runtime.name())).verifyError(StoreException.Held.class);
        assertThat(await(next.delete(runtime.name()))).isEqualTo(runtime);
        old.release().block();
    }

    @Test
    void theOldHolderLearnsWhatItsSuccessorRevokesAndDeletes() {
        RuntimeStore old = open(clock, Duration.ZERO);
        RegisteredRuntime kept = runtime("kept");
        RegisteredRuntime revoked = runtime("revoked");
        RegisteredRuntime deleted = runtime("deleted");
        Stream.of(kept, revoked, deleted).forEach(runtime -> await(old.create(runtime, token(runtime))));
        old.release().block();
        RuntimeStore next = open(clock, Duration.ZERO);
        String identity = UUID.randomUUID().toString();

        StepVerifier.create(old.endedBySuccessor())
                .then(() -> await(next.revoke(revoked.name(), identity)))
                .expectNext(revoked)
                .then(() -> await(next.delete(deleted.name())))
                .expectNext(deleted)
                .thenCancel()
                .verify(PATIENCE);

        assertThat(old.byIdentity(revoked.identity())).isNull();
        assertThat(old.byHost(revoked.host())).isEqualTo(revoked.withIdentity(identity));
        assertThat(old.byHost(deleted.host())).isNull();
        assertThat(old.byIdentity(kept.identity())).isEqualTo(kept);
    }

    @Test
    void whoWaitsBeginsWhenTheHolderReleases() {
        RuntimeStore old = open(clock, Duration.ZERO);
        Mono<SqliteRuntimeStore> next = waiting();

        StepVerifier.create(next)
                .expectSubscription()
                .expectNoEvent(Duration.ofMillis(300))
                .then(() -> old.release().block())
                .expectNextCount(1)
                .expectComplete()
                .verify(PATIENCE);
    }

    @Test
    void aHolderForWhichNobodyWaitsKnowsItAtOnce() {
        SqliteRuntimeStore old = open(clock, Duration.ZERO);
        refused(Duration.ZERO); // it does not wait, so it leaves no note

        old.release().block();

        StepVerifier.create(old.succeeded(LONG, LONG))
                .expectNext(false)
                .expectComplete()
                .verify(PATIENCE);
    }

    @Test
    void theHolderLearnsThatItsSuccessorServesAndNotOnlyHoldsTheLease() {
        SqliteRuntimeStore old = open(clock, Duration.ZERO);
        var next = waiting().toFuture();
        Awaitility.await().until(this::isAwaited);

        old.release().block();

        assertThat(next).succeedsWithin(PATIENCE);
        assertThat(await(old.succeeded(LONG, SHORT))).isFalse();
        next.join().serving().block();
        assertThat(await(old.succeeded(LONG, LONG))).isTrue();
    }

    @Test
    void aSuccessorThatHasGivenTheLeaseBackIsNotWaitedFor() {
        SqliteRuntimeStore old = open(clock, Duration.ZERO);
        var next = waiting().toFuture();
        Awaitility.await().until(this::isAwaited);
        old.release().block();
        assertThat(next).succeedsWithin(PATIENCE);

        next.join().release().block();

        assertThat(await(old.succeeded(SHORT, LONG))).isFalse();
    }

    /** Versions before these notes take the lease and say nothing. */
    @Test
    void aSuccessorThatDoesNotTellHasLittleTime() throws SQLException {
        SqliteRuntimeStore old = open(clock, Duration.ZERO);
        var next = waiting().toFuture();
        Awaitility.await().until(this::isAwaited);
        old.release().block();
        assertThat(next).succeedsWithin(PATIENCE);

        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("culvert.db"));
                var statement = connection.createStatement()) {
            statement.execute("DELETE FROM lease_notes");
        }

        assertThat(await(old.succeeded(SHORT, LONG))).isFalse();
    }

    @Test
    void aSuccessorThatGaveUpIsNotWaitedForLong() {
        SqliteRuntimeStore old = open(clock, Duration.ZERO);
        refused(SHORT);

        old.release().block();

        assertThat(await(old.succeeded(SHORT, LONG))).isFalse();
        SqliteRuntimeStore next = open(clock, Duration.ZERO);
        next.release().block(); // the note of the one that gave up ended with the new holder
        StepVerifier.create(next.succeeded(LONG, LONG))
                .expectNext(false)
                .expectComplete()
                .verify(PATIENCE);
    }

    @Test
    void theWaitForASuccessorHasABoundOfItsOwn() {
        SqliteRuntimeStore old = open(clock, Duration.ZERO);
        refused(SHORT);

        old.release().block();

        assertThat(await(old.succeeded(LONG, SHORT))).isFalse();
    }

    @Test
    void aDatabaseThatCannotBeUsedIsGivenBack() throws SQLException {
        open(clock, Duration.ZERO).release().block();
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("culvert.db"));
                var statement = connection.createStatement()) {
            statement.execute("UPDATE schema_version SET version = 9999");
        }
        assertThatThrownBy(() -> open(clock, Duration.ZERO)).isInstanceOf(StoreException.Failed.class);

        assertThatThrownBy(() -> open(clock, Duration.ZERO)).isInstanceOf(StoreException.Failed.class);
    }

    @Test
    void aHolderThatSleptBeyondItsLeaseChangesNothing() {
        RuntimeStore slept = open(clock, Duration.ZERO);
        clock.advance(SqliteLease.LIFE);
        RuntimeStore next = open(clock, Duration.ZERO);
        RegisteredRuntime runtime = runtime("prod");

        StepVerifier.create(slept.create(runtime, token(runtime)))
                .verifyErrorSatisfies(refused -> assertThat(refused).isInstanceOf(StoreException.Held.class)
                        .hasMessageContaining("took the database over (host "));
        StepVerifier.create(slept.lost()).expectError(StoreException.Held.class).verify(PATIENCE);
        assertThat(next.runtimes()).isEmpty();
        slept.close().block();
        assertThat(await(next.create(runtime, token(runtime)))).isEqualTo(runtime);
    }

    @Test
    void aHolderThatSleptIsToldWithoutAChange() {
        RuntimeStore slept = open(clock, Duration.ZERO);
        clock.advance(SqliteLease.LIFE);
        open(clock, Duration.ZERO);

        StepVerifier.create(slept.lost()).expectError(StoreException.Held.class).verify(PATIENCE);
    }

    @Test
    void heartbeatsKeepTheLease() {
        RuntimeStore holder = open(clock, Duration.ZERO);
        clock.advance(SqliteLease.LIFE.minusSeconds(1));
        StepVerifier.create(holder.lost())
                .expectSubscription()
                .expectNoEvent(SqliteLease.BEAT.plusSeconds(1))
                .thenCancel()
                .verify(PATIENCE);
        clock.advance(SqliteLease.LIFE.minusSeconds(1));

        assertThatThrownBy(() -> open(clock, Duration.ZERO)).isInstanceOf(StoreException.Held.class);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aKilledProcessHoldsNothing() throws IOException {
        try (StoreHolder holder = StoreHolder.start(folder)) {
            assertThatThrownBy(() -> open(Clock.systemUTC(), Duration.ZERO))
                    .isInstanceOf(StoreException.Held.class)
                    .hasMessageContaining(", pid " + holder.pid());

            holder.kill();

            open(Clock.systemUTC(), Duration.ZERO);
        }
    }

    @Test
    void aRefusedOneLeavesNothingBehind() throws IOException {
        open(clock, Duration.ZERO);

        assertThatThrownBy(() -> open(clock, Duration.ofMillis(300))).isInstanceOf(StoreException.Held.class);

        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsOnly("culvert.db", "culvert.db-wal", "culvert.db-shm");
        }
    }

    /** Whether a note in the database says that a process waits for it. */
    private boolean isAwaited() throws SQLException {
        String file = "jdbc:sqlite:file:" + folder.resolve("culvert.db") + "?mode=ro";
        try (var connection = DriverManager.getConnection(file);
                var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT value FROM lease_notes WHERE name = 'waiting'")) {
            return row.next() && row.getLong(1) > 0;
        }
    }

    private Mono<SqliteRuntimeStore> waiting() {
        return SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults().waiting(PATIENCE), clock)
                .doOnNext(opened::add);
    }

    /** Expects that the database is held. */
    private void refused(Duration wait) {
        assertThatThrownBy(() -> open(clock, wait)).isInstanceOf(StoreException.Held.class);
    }

    private SqliteRuntimeStore open(Clock time, Duration wait) {
        SqliteRuntimeStore store = await(
                SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults().waiting(wait), time));
        opened.add(store);
        return store;
    }

    private static RegisteredRuntime runtime(String name) {
        var full = new RuntimeName("acme", name);
        return new RegisteredRuntime(UUID.randomUUID().toString(), UUID.randomUUID().toString(), full,
                full.label() + ".t.example", List.of(), Instant.EPOCH);
    }

    private static StoredToken token(RegisteredRuntime runtime) {
        return new StoredToken(runtime.id(), Sha256.of("x".getBytes(StandardCharsets.UTF_8)), runtime.id(),
                Instant.EPOCH, null, null);
    }
}
