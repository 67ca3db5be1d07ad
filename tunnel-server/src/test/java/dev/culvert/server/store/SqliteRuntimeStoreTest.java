package dev.culvert.server.store;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.certs.Sha256;
import dev.culvert.server.FakeTunnels;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.StoredToken;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

class SqliteRuntimeStoreTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.678Z");
    private static final String PEM = "a certificate";
    private static final Sha256 KEY = Sha256.of(bytes("key"));
    private static final StoreLimits SMALL_QUEUE = new StoreLimits(3, 2, 2, 4, Duration.ofSeconds(1));
    private static final StoreLimits SMALL = new StoreLimits(3, 2, 2, 100, Duration.ofMillis(20));

    @TempDir
    Path folder;
    private RuntimeStore store;

    @BeforeEach
    void open() {
        store = open(SMALL);
    }

    @AfterEach
    void close() {
        store.close().block();
    }

    @Test
    void runtimeAndItsTokenSurviveAReopen() {
        RegisteredRuntime runtime = runtime("acme", "prod", "git.example.com", "b.example.com");
        StoredToken token = token("t1", runtime);
        store.create(runtime, token).block();
        store.use("t1", KEY, PEM).block();

        reopen();

        assertThat(store.byName(runtime.name())).isEqualTo(runtime);
        assertThat(store.byId(runtime.id())).isEqualTo(runtime);
        assertThat(store.token("t1")).isEqualTo(token.usedBy(KEY, PEM));
    }

    @Test
    void deletionSurvivesAReopenAndFreesTheHosts() {
        RegisteredRuntime runtime = runtime("acme", "prod", "git.example.com");
        store.create(runtime, token("t1", runtime)).block();

        assertThat(store.delete(runtime.name()).block()).isEqualTo(runtime);

        assertThat(store.byHost(runtime.host())).isNull();
        assertThat(store.byHost("git.example.com")).isNull();
        reopen();
        assertThat(store.runtimes()).isEmpty();
        assertThat(store.token("t1")).isNull();
        RegisteredRuntime again = runtime("acme", "prod", "git.example.com");
        assertThat(store.create(again, token("t2", again)).block()).isEqualTo(again);
    }

    @Test
    void aRevocationHoldsBeforeItCanBeStored() throws SQLException {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();
        var tunnels = new FakeTunnels();
        tunnels.open
                .add(new SessionView("s1", runtime.id(), 1, "open", NOW, 0.1, 0, "127.0.0.1:1", "test/1"));
        var registrar = new RuntimeRegistrar(store, tunnels, (id, expires) -> {
            throw new IllegalStateException("no token is made here");
        }, "t.example",
                Clock.systemUTC(), gone -> {});
        onDisk("CREATE TRIGGER no_room BEFORE UPDATE ON runtimes BEGIN SELECT RAISE(ABORT, 'no room'); END");

        assertThatThrownBy(() -> await(registrar.revoke(runtime.name())))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("acme/prod is revoked and disconnected")
                .hasMessageContaining("not stored yet");
        assertThat(tunnels.open).isEmpty();
        assertThat(store.byIdentity(runtime.identity())).isNull();
        assertThat(store.token("t1")).isNull();

        onDisk("DROP TRIGGER no_room");
        String identity = Objects.requireNonNull(store.byName(runtime.name())).identity();
        Awaitility.await().until(() -> storedIdentities().contains(identity));
        reopen();
        assertThat(store.byIdentity(runtime.identity())).isNull();
        assertThat(store.token("t1")).isNull();
    }

    @Test
    void aRevokedRuntimeThatChangesMeanwhileStaysRevoked() throws SQLException {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();
        String identity = revokedInMemory(runtime);

        await(store.replaceHosts(runtime.name(), List.of("git.example.com")));
        await(store.add(token("t2", runtime)));
        onDisk("DROP TRIGGER no_room");

        Awaitility.await().until(() -> storedIdentities().contains(identity));
        reopen();
        assertThat(store.byIdentity(runtime.identity())).isNull();
        assertThat(store.token("t1")).isNull();
        assertThat(store.token("t2")).isNotNull();
    }

    @Test
    void aRevocationIsStoredThoughTheDatabaseWasBusy() throws Exception {
        store.close().block();
        var clock = new HeldClock();
        store = await(SqliteRuntimeStore.open(folder, "t.example", SMALL_QUEUE, clock));
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            String identity = revokedInMemory(runtime);
            clock.held = new CountDownLatch(1);
            store.renewed(runtime.id(), KEY, KEY, NOW).subscribe();
            var busy = new CountDownLatch(1);
            for (int i = 0; i < 2 * SMALL_QUEUE.maxQueued(); i++) {
                store.replaceHosts(runtime.name(), List.of()).subscribe(done -> {}, full -> busy.countDown());
            }
            assertThat(busy.await(20, TimeUnit.SECONDS)).isTrue();

            time.advanceTimeBy(Duration.ofSeconds(1));
            clock.held.countDown();
            onDisk("DROP TRIGGER no_room");
            Awaitility.await().until(() -> {
                time.advanceTimeBy(Duration.ofSeconds(1));
                return storedIdentities().contains(identity);
            });
        } finally {
            clock.held.countDown();
            VirtualTimeScheduler.reset();
        }
    }

    /** Its identity, while the disk has another one. */
    private String revokedInMemory(RegisteredRuntime runtime) throws SQLException {
        onDisk("CREATE TRIGGER no_room BEFORE UPDATE ON runtimes BEGIN SELECT RAISE(ABORT, 'no room'); END");
        String identity = UUID.randomUUID().toString();
        assertThatThrownBy(() -> await(store.revoke(runtime.name(), identity)))
                .isInstanceOf(StoreException.Failed.class);
        return identity;
    }

    /** Stands still, and holds up whoever asks it. */
    private static final class HeldClock extends Clock {
        private volatile CountDownLatch held = new CountDownLatch(0);

        @Override
        public Instant instant() {
            try {
                held.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return NOW;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    @Test
    void whatCanNotBeDeletedIsDisconnected() throws SQLException {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();
        onDisk("CREATE TRIGGER no_room BEFORE DELETE ON runtimes BEGIN SELECT RAISE(ABORT, 'no room'); END");

        assertThatThrownBy(() -> await(store.delete(runtime.name())))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("not deleted");

        assertThat(store.byName(runtime.name())).isNotNull();
        assertThat(store.byIdentity(runtime.identity())).isNull();
        onDisk("DROP TRIGGER no_room");
        assertThat(store.delete(runtime.name()).block()).isNotNull();
        assertThat(store.byName(runtime.name())).isNull();
    }

    private void onDisk(String sql) throws SQLException {
        try (Connection other = SqliteDatabase.connect(folder.resolve(SqliteRuntimeStore.FILE));
                Statement statement = other.createStatement()) {
            statement.execute(sql);
        }
    }

    private List<String> storedIdentities() throws SQLException {
        List<String> identities = new ArrayList<>();
        try (Connection other = SqliteDatabase.connect(folder.resolve(SqliteRuntimeStore.FILE));
                Statement statement = other.createStatement();
                ResultSet row = statement.executeQuery("SELECT identity FROM runtimes")) {
            while (row.next()) {
                identities.add(row.getString(1));
            }
        }
        return identities;
    }

    @Test
    void revocationSurvivesAReopenAndEndsTheTokens() {
        RegisteredRuntime runtime = runtime("acme", "prod", "git.example.com");
        store.create(runtime, token("t1", runtime)).block();

        RegisteredRuntime revoked = store.revoke(runtime.name(), "another").block();

        assertThat(revoked).isEqualTo(runtime.withIdentity("another"));
        for (int opened = 0; opened < 2; opened++, reopen()) {
            assertThat(store.byIdentity(runtime.identity())).isNull();
            assertThat(store.byIdentity("another")).isEqualTo(revoked);
            assertThat(store.byId(runtime.id())).isEqualTo(revoked);
            assertThat(store.byName(runtime.name())).isEqualTo(revoked);
            assertThat(store.byHost("git.example.com")).isEqualTo(revoked);
            assertThat(store.byHost(runtime.host())).isEqualTo(revoked);
            assertThat(store.token("t1")).isNull();
        }
    }

    @Test
    void databaseOfTheFirstVersionKeepsItsIdentities() throws Exception {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();
        store.close().block();
        try (var connection = DriverManager
                .getConnection("jdbc:sqlite:" + folder.resolve(SqliteRuntimeStore.FILE));
                var statement = connection.createStatement()) {
            statement.execute("DROP TABLE renewals");
            statement.execute("DROP TABLE runtime_upstreams");
            statement.execute("DROP TABLE generations");
            statement.execute("DROP TABLE admin_tokens");
            statement.execute("DROP TABLE audit");
            statement.execute("DROP TABLE lease");
            statement.execute("DROP TABLE runtime_limits");
            statement.execute("DROP TABLE runtime_access");
            statement.execute("DROP TABLE runtime_announcements");
            statement.execute("DROP INDEX runtimes_by_identity");
            statement.execute("ALTER TABLE runtimes DROP COLUMN identity");
            statement.execute("ALTER TABLE runtimes DROP COLUMN connected");
            statement.execute("ALTER TABLE runtimes DROP COLUMN registrar");
            statement.execute("ALTER TABLE runtimes DROP COLUMN request");
            statement.execute("ALTER TABLE tokens DROP COLUMN certificate");
            statement.execute("UPDATE schema_version SET version = 1");
        }

        open();

        assertThat(store.byIdentity(runtime.id())).isEqualTo(
                runtime.withIdentity(runtime.id()).withConnected(runtime.created()));
    }

    @Test
    void anUpstreamOutlivesARestartAndGoesWithItsRuntime() {
        RegisteredRuntime tunnelled = runtime("acme", "prod");
        store.create(tunnelled, token("t1", tunnelled)).block();
        RuntimeUpstream first = RuntimeUpstream.of("https://a.example:8443", "a certificate");
        RegisteredRuntime hosted = runtime("acme", "hosted", "h.example").withUpstream(first);
        store.create(hosted).block();

        reopen();

        assertThat(store.byHost("h.example")).isEqualTo(hosted);
        assertThat(store.byName(tunnelled.name())).isEqualTo(tunnelled);
        StepVerifier.create(store.create(runtime("acme", "other", "h.example").withUpstream(first)))
                .verifyError(StoreException.Conflict.class);
        StepVerifier.create(store.replaceUpstream(tunnelled.name(), first))
                .verifyError(StoreException.Conflict.class);
        RuntimeUpstream second = RuntimeUpstream.of("http://b.example", null);
        store.replaceUpstream(hosted.name(), second).block();
        assertThat(store.byHost("h.example")).isEqualTo(hosted.withUpstream(second));
        reopen();
        assertThat(store.byHost("acme-hosted.t.example")).isEqualTo(hosted.withUpstream(second));
        store.delete(hosted.name()).block();
        store.create(hosted).block();
        reopen();
        assertThat(store.byName(hosted.name())).isEqualTo(hosted);
    }

    @Test
    void theFirstConnectIsNotedOnceAndForgottenByARevocation() {
        RegisteredRuntime runtime = runtime("acme", "prod", "git.example.com");
        store.create(runtime, token("t1", runtime)).block();
        assertThat(runtime.connected()).isNull();

        store.connected("nobody's").block();
        store.connected(runtime.identity()).block();
        RegisteredRuntime after = Objects.requireNonNull(store.byName(runtime.name()));
        store.connected(runtime.identity()).block();

        for (int opened = 0; opened < 2; opened++, reopen()) {
            assertThat(store.byName(runtime.name())).isEqualTo(after);
            assertThat(store.byHost("git.example.com")).isEqualTo(after);
            assertThat(store.byIdentity(runtime.identity())).isEqualTo(after);
        }
        assertThat(after.connected()).isEqualTo(NOW);
        assertThat(await(store.revoke(runtime.name(), "another")).connected()).isNull();
        reopen();
        assertThat(store.byName(runtime.name())).isEqualTo(runtime.withIdentity("another"));
    }

    @Test
    void hostIsComparedWithoutPortCaseAndTrailingDot() {
        RegisteredRuntime runtime = runtime("acme", "prod", "git.example.com");
        store.create(runtime, token("t1", runtime)).block();

        assertThat(List.of("acme-prod.t.example", "ACME-prod.T.example:8443", "acme-prod.t.example.",
                "acme-prod.t.example.:443", "git.example.com:1")).allSatisfy(
                        authority -> assertThat(store.byHost(authority)).isEqualTo(runtime));
        assertThat(List.of("", ":", ".", "[::1]", "[::1]:8443", "acme-prod.t.example..", "t.example"))
                .allSatisfy(authority -> assertThat(store.byHost(authority)).isNull());
    }

    @Test
    void sameNameIsAConflict() {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();

        RegisteredRuntime twin = runtime("acme", "prod");
        assertThatThrownBy(() -> store.create(twin, token("t2", twin)).block())
                .isInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("acme/prod");
        assertThat(store.token("t2")).isNull();
    }

    @Test
    void namesThatMakeTheSameHostAreAConflict() {
        RegisteredRuntime first = runtime("a-b", "c");
        store.create(first, token("t1", first)).block();

        RegisteredRuntime second = runtime("a", "b-c");
        assertThatThrownBy(() -> store.create(second, token("t2", second)).block())
                .isInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("a-b-c.t.example");
    }

    @Test
    void customHostOfAnotherRuntimeIsAConflict() {
        RegisteredRuntime first = runtime("acme", "one", "git.example.com");
        store.create(first, token("t1", first)).block();

        RegisteredRuntime same = runtime("acme", "two", "git.example.com");
        RegisteredRuntime own = runtime("acme", "three", "acme-one.t.example");
        assertThatThrownBy(() -> store.create(same, token("t2", same)).block())
                .isInstanceOf(StoreException.Conflict.class);
        assertThatThrownBy(() -> store.create(own, token("t3", own)).block())
                .isInstanceOf(StoreException.Conflict.class);
    }

    @Test
    void changesAtTheSameTimeAreMadeOneAfterAnother() {
        List<RegisteredRuntime> twins = IntStream.range(0, 20)
                .mapToObj(i -> runtime("acme", "prod"))
                .toList();

        List<Boolean> made = Flux.fromIterable(twins)
                .flatMap(twin -> store.create(twin, token(twin.id(), twin))
                        .thenReturn(true)
                        .onErrorReturn(StoreException.Conflict.class, false))
                .collectList()
                .block();

        assertThat(made).containsOnlyOnce(true);
        assertThat(store.runtimes()).hasSize(1);
    }

    @Test
    void runtimesAreListedInTheOrderOfTheirNames() {
        for (String name : List.of("c", "a", "b")) {
            RegisteredRuntime runtime = runtime("acme", name);
            store.create(runtime, token(name, runtime)).block();
        }

        assertThat(store.runtimes()).extracting(runtime -> runtime.name().name())
                .containsExactly("a", "b", "c");
    }

    @Test
    void moreRuntimesThanTheLimitAreRefused() {
        for (String name : List.of("a", "b", "c")) {
            RegisteredRuntime runtime = runtime("acme", name);
            store.create(runtime, token(name, runtime)).block();
        }

        RegisteredRuntime more = runtime("acme", "d");
        assertThatThrownBy(() -> store.create(more, token("d", more)).block())
                .isInstanceOf(StoreException.Full.class);
    }

    @Test
    void moreCustomHostsThanTheLimitAreRefused() {
        RegisteredRuntime runtime = runtime("acme", "prod", "a.example", "b.example", "c.example");

        assertThatThrownBy(() -> store.create(runtime, token("t", runtime)).block())
                .isInstanceOf(InvalidNameException.class);
    }

    @Test
    void moreTokensThanTheLimitAreRefusedUntilOneIsLongExpired() {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, expiring("old", runtime, NOW.minus(Duration.ofDays(2)))).block();
        store.add(token("t1", runtime)).block();
        assertThat(store.token("old")).isNull();
        store.add(token("t2", runtime)).block();

        assertThatThrownBy(() -> store.add(token("t3", runtime)).block())
                .isInstanceOf(StoreException.Full.class);
        assertThat(store.token("t3")).isNull();
    }

    @Test
    void tokensThatAreUsedOrExpiredTakeNoRoomAndTheOldestAreForgotten() {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("used", runtime)).block();
        store.use("used", KEY, PEM).block();
        for (int i = 0; i < 4; i++) {
            store.add(expiring("expired" + i, runtime, NOW.minus(Duration.ofMinutes(10 - i)))).block();
        }

        store.add(token("t1", runtime)).block();
        store.add(token("t2", runtime)).block();

        assertThat(store.token("expired2")).isNull();
        reopen();
        assertThat(store.token("expired2")).isNull();
        assertThat(store.token("expired3")).isNotNull();
        assertThat(await(store.use("used", KEY, PEM)).usedBy()).isEqualTo(KEY);
        assertThatThrownBy(() -> store.add(token("t3", runtime)).block())
                .isInstanceOf(StoreException.Full.class);
    }

    @Test
    void moreWaitingChangesThanTheLimitAreRefused() {
        store.close().block();
        store = open(new StoreLimits(1000, 2, 2, 4, Duration.ofSeconds(1)));

        List<String> answers = await(Flux.range(0, 200).flatMap(i -> {
            RegisteredRuntime runtime = runtime("acme", "r" + i);
            return store.create(runtime, token("t" + i, runtime))
                    .thenReturn("made")
                    .onErrorResume(StoreException.Busy.class, busy -> Mono.just("busy"));
        }, 200).collectList());

        assertThat(answers).contains("made", "busy").hasSize(200);
        assertThat(store.runtimes()).hasSize((int) answers.stream().filter("made"::equals).count());
    }

    @Test
    void tokenServesItsFirstKeyOnly() {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();

        assertThat(await(store.use("t1", KEY, PEM)).usedBy()).isEqualTo(KEY);
        assertThat(await(store.use("t1", KEY, PEM)).usedBy()).isEqualTo(KEY);
        StepVerifier.create(store.use("t1", Sha256.of(bytes("other")), PEM))
                .verifyError(StoreException.Conflict.class);
        StepVerifier.create(store.use("t9", KEY, PEM)).verifyError(StoreException.Absent.class);
    }

    @Test
    void whatIsAbsentCantBeDeletedNorGetATokenNorBeFound() {
        RegisteredRuntime runtime = runtime("acme", "prod");

        StepVerifier.create(store.delete(runtime.name())).verifyError(StoreException.Absent.class);
        StepVerifier.create(store.add(token("t1", runtime))).verifyError(StoreException.Absent.class);
    }

    @Test
    void changesSurviveACrash() throws IOException {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();
        Path crashed = Files.createDirectory(folder.resolve("crashed"));
        try (var files = Files.newDirectoryStream(folder, "culvert.db*")) {
            for (Path file : files) {
                Files.copy(file, crashed.resolve(file.getFileName()));
            }
        }

        RuntimeStore after = await(
                SqliteRuntimeStore.open(crashed, "t.example", SMALL,
                        Clock.fixed(NOW.plus(SqliteLease.LIFE), ZoneOffset.UTC)));

        assertThat(after.runtimes()).containsExactly(runtime);
        after.close().block();
    }

    @Test
    void onlyTheOwnerReadsItsFiles() throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).as("%s", file)
                        .isEqualTo("rw-------");
            }
        }
    }

    @Test
    void changesAfterTheCloseFail() {
        store.close().block();

        RegisteredRuntime runtime = runtime("acme", "prod");
        StepVerifier.create(store.create(runtime, token("t1", runtime))).verifyError(StoreException.class);
        store = open(SMALL);
    }

    @Test
    void anotherEdgeDomainMovesTheHosts() {
        RegisteredRuntime runtime = runtime("acme", "prod");
        store.create(runtime, token("t1", runtime)).block();
        store.close().block();

        store = await(
                SqliteRuntimeStore.open(folder, "new.example", SMALL, Clock.fixed(NOW, ZoneOffset.UTC)));

        assertThat(store.byHost("acme-prod.new.example")).isNotNull();
        assertThat(store.byHost("acme-prod.t.example")).isNull();
    }

    private void reopen() {
        store.close().block();
        store = open(SMALL);
    }

    private RuntimeStore open(StoreLimits limits) {
        return await(SqliteRuntimeStore.open(folder, "t.example", limits, Clock.fixed(NOW, ZoneOffset.UTC)));
    }

    private static RegisteredRuntime runtime(String account, String name, String... hosts) {
        var full = new RuntimeName(account, name);
        return new RegisteredRuntime(UUID.randomUUID().toString(), UUID.randomUUID().toString(), full,
                full.label() + ".t.example",
                List.of(hosts), NOW);
    }

    private static StoredToken token(String id, RegisteredRuntime runtime) {
        return expiring(id, runtime, NOW.plus(Duration.ofHours(1)));
    }

    private static StoredToken expiring(String id, RegisteredRuntime runtime, Instant expires) {
        return new StoredToken(id, Sha256.of(bytes(id)), runtime.id(), expires, null, null);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
