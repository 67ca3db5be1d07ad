package dev.culvert.platform.directory.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.config.ConfigException;
import dev.culvert.platform.directory.rules.AccessDecisions;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.StoreException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

@ParameterizedClass
@EnumSource
class DirectoryTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    /** Few of each, so that tests cross them. */
    private static final DirectoryLimits FEW = new DirectoryLimits(2, 3, 3, 2, 2);
    private static final String ACCOUNT = "6791f6184c56bd51c65784a2";

    private final Engine engine;
    private DirectoryFile open;
    private Directory directory;
    private AccessDecisions decisions;
    private String user = "";

    DirectoryTest(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void open(@TempDir Path folder) {
        open = DirectoryFile.open(engine, folder.resolve("directory.db"), FEW, Clock.systemUTC());
        directory = open.directory();
        decisions = open.decisions();
        get(directory.addAccount(ACCOUNT, "acme"));
        user = get(directory.addUser(ACCOUNT, "Jo", "jo@acme.test", false)).id();
    }

    @AfterEach
    void close() {
        open.close();
    }

    @Test
    void nobodyMayAnythingUntilARuleSaysSo() {
        AccessQuery query = new AccessQuery(user, "workflows", "TERMINATE", Map.of("namespace", "argo"));
        assertThat(get(decisions.decide(ACCOUNT, query)).isValid()).isFalse();
        String team = get(directory.addTeam(ACCOUNT, "ops", List.of())).id();
        Rule rule = get(directory.addRule(ACCOUNT, rule(List.of(team))));
        assertThat(get(decisions.decide(ACCOUNT, query)).isValid()).isFalse();

        directory.setMember(ACCOUNT, team, user, true).block(TIME);

        assertThat(get(decisions.decide(ACCOUNT, query)).isValid()).isTrue();
        directory.removeRule(ACCOUNT, rule.id()).block(TIME);
        assertThat(get(decisions.decide(ACCOUNT, query)).isValid()).isFalse();
    }

    @Test
    void anAdministratorMayAll() {
        String admin = get(directory.addUser(ACCOUNT, "Al", "al@acme.test", true)).id();

        assertThat(get(decisions.decide(ACCOUNT, new AccessQuery(admin, "x", "Y", Map.of()))).isValid())
                .isTrue();
    }

    @Test
    void whenTheLastOperatorLosesAccessIsKnown(@TempDir Path folder) {
        DirectoryFile other = DirectoryFile.open(engine, folder.resolve("directory.db"), FEW,
                Clock.systemUTC());
        Directory own = other.directory();
        try {
            own.bootstrap("main", key -> {}).block(TIME);
            assertThat(own.operatorsAccessEnds().block(TIME)).isNull();
            String account = get(own.accounts()).getFirst().id();
            StoredKey lasting = get(own.keys(account)).getFirst();
            long end = own.now() + 600;
            get(own.addKey(account, lasting.user(), null, "brief", end));
            get(own.removeKey(account, lasting.id(), false));

            assertThat(own.operatorsAccessEnds().block(TIME)).isEqualTo(end);
        } finally {
            other.close();
        }
    }

    /** A use is stored once an hour, among the changes of the account. */
    @Test
    void aKeyIsAcceptedBeforeItsUseIsStored(@TempDir Path folder) {
        var areEndless = new AtomicBoolean();
        DirectoryFile other = DirectoryFile.open(engine, folder.resolve("directory.db"), FEW,
                Clock.systemUTC(), store -> new EndlessChanges(store, areEndless));
        try {
            Directory own = other.directory();
            get(own.addAccount(ACCOUNT, "acme"));
            String text = get(own.addKey(ACCOUNT, null, "prod", "runtime", null)).text().reveal();
            areEndless.set(true);

            assertThat(get(own.holder(text)).key().runtime()).isEqualTo("prod");
            assertThat(get(own.holder(text)).key().runtime()).isEqualTo("prod");
        } finally {
            other.close();
        }
    }

    /** A store whose changes of an account may not end. */
    private record EndlessChanges(Store store, AtomicBoolean areEndless) implements Store {
        @Override
        public <T> Mono<T> read(Work<T> work) {
            return store.read(work);
        }

        @Override
        public <T> Mono<T> change(Work<T> work) {
            return store.change(work);
        }

        @Override
        public <T> Mono<T> change(String account, Work<T> work) {
            return areEndless.get() ? Mono.never() : store.change(account, work);
        }
    }

    @Test
    void otherAccountsAreNotWaitedFor() {
        assumeTrue(engine == Engine.POSTGRES); // a file has one change at a time
        IssuedKey key = get(directory.addKey(ACCOUNT, user, null, "laptop", null));
        var end = new CountDownLatch(1);
        CompletableFuture<@Nullable Boolean> other = open.store().change("other", connection -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return true;
        }).toFuture();

        get(directory.removeKey(ACCOUNT, key.key().id(), false));
        directory.removeUser(ACCOUNT, user, false).block(TIME);

        assertThat(other).isNotDone();
        end.countDown();
        other.join();
    }

    @Test
    void aRevokedKeyIsNobodys() {
        IssuedKey key = get(directory.addKey(ACCOUNT, user, null, "laptop", null));
        String text = key.text().reveal();
        assertThat(get(directory.holder(text)).user()).extracting(User::email).isEqualTo("jo@acme.test");
        assertThat(directory.holder(text.substring(0, text.length() - 1) + "!").block(TIME)).isNull();

        get(directory.removeKey(ACCOUNT, key.key().id(), false));

        assertThat(directory.holder(text).block(TIME)).isNull();
    }

    @Test
    void aKeyServesUntilItExpiresAndShowsItsLastUse() {
        long now = directory.now();
        String lasting = get(directory.addKey(ACCOUNT, user, null, "laptop", now + 600)).text().reveal();
        String expired = get(directory.addKey(ACCOUNT, user, null, "old", now)).text().reveal();

        assertThat(get(directory.holder(lasting)).key().name()).isEqualTo("laptop");
        assertThat(directory.holder(expired).block(TIME)).isNull();
        assertThat(get(directory.keys(ACCOUNT))).extracting(StoredKey::name, key -> key.lastUsed() != null)
                .containsExactlyInAnyOrder(tuple("laptop", true), tuple("old", false));
    }

    @Test
    void aRuntimeIsForgottenWithItsLastKey() {
        String first = get(directory.addKey(ACCOUNT, null, "prod", "a", null)).key().id();
        String second = get(directory.addKey(ACCOUNT, null, "prod", "b", null)).key().id();
        get(directory.reached(ACCOUNT, "prod", "http://127.0.0.1"));

        get(directory.removeKey(ACCOUNT, first, false));
        assertThat(get(directory.urls(ACCOUNT))).containsKey("prod");
        get(directory.removeKey(ACCOUNT, second, false));
        assertThat(get(directory.urls(ACCOUNT))).isEmpty();
    }

    @Test
    void aUsersKeysGoWithThem() {
        String text = get(directory.addKey(ACCOUNT, user, null, "laptop", null)).text().reveal();

        directory.removeUser(ACCOUNT, user, false).block(TIME);

        assertThat(directory.holder(text).block(TIME)).isNull();
    }

    @Test
    void tellsWhatChangedSince() {
        long before = get(directory.changes(ACCOUNT, -1)).next();
        String key = get(directory.addKey(ACCOUNT, user, null, "laptop", null)).key().id();
        get(directory.removeKey(ACCOUNT, key, false));

        Changes changes = get(directory.changes(ACCOUNT, before));

        assertThat(changes.reset()).isFalse();
        assertThat(changes.changes()).extracting(Change::what, Change::user)
                .containsExactly(tuple("key", user),
                        tuple("key", user));
        assertThat(get(directory.changes(ACCOUNT, changes.next())).changes()).isEmpty();
    }

    @Test
    void whoLooksTooSeldomIsToldToForgetEverything() {
        long before = get(directory.changes(ACCOUNT, -1)).next();
        for (int i = 0; i < 3; i++) {
            get(directory.removeKey(ACCOUNT,
                    get(directory.addKey(ACCOUNT, user, null, "k" + i, null)).key().id(), false));
        }

        assertThat(get(directory.changes(ACCOUNT, before)).reset()).isTrue();
        assertThat(get(directory.changes(ACCOUNT, 1_000)).reset()).isTrue();
    }

    @Test
    void everythingHasABound() {
        get(directory.addUser(ACCOUNT, "b", "b@acme.test", false));
        get(directory.addUser(ACCOUNT, "c", "c@acme.test", false));
        assertFull(directory.addUser(ACCOUNT, "d", "d@acme.test", false));
        for (int i = 0; i < 3; i++) {
            get(directory.addKey(ACCOUNT, user, null, "k", null));
        }
        assertFull(directory.addKey(ACCOUNT, user, null, "k", null));
        String team = get(directory.addTeam(ACCOUNT, "t1", List.of())).id();
        get(directory.addTeam(ACCOUNT, "t2", List.of()));
        assertFull(directory.addTeam(ACCOUNT, "t3", List.of()));
        get(directory.addRule(ACCOUNT, rule(List.of(team))));
        get(directory.addRule(ACCOUNT, rule(List.of(team))));
        assertFull(directory.addRule(ACCOUNT, rule(List.of(team))));
        get(directory.addAccount(Id.create(), "other"));
        assertFull(directory.addAccount(Id.create(), "third"));
    }

    @Test
    void anotherAccountsThingsAreNotThere() {
        String other = get(directory.addAccount(Id.create(), "other")).id();
        String key = get(directory.addKey(ACCOUNT, user, null, "k", null)).key().id();

        assertThatThrownBy(() -> directory.removeKey(other, key, false).block(TIME))
                .isInstanceOf(StoreException.Absent.class);
        assertThatThrownBy(() -> directory.removeUser(other, user, false).block(TIME))
                .isInstanceOf(StoreException.Absent.class);
        assertThat(
                get(decisions.decide(other, new AccessQuery(user, "workflows", "VIEW", Map.of()))).isValid())
                .isFalse();
    }

    @Test
    void aFirstKeyThatCannotBeKeptIsNotMade(@TempDir Path folder) {
        DirectoryFile other = DirectoryFile.open(engine, folder.resolve("directory.db"), FEW,
                Clock.systemUTC());
        Directory empty = other.directory();
        try {
            assertThatThrownBy(() -> empty.bootstrap("main", key -> {
                throw new ConfigException("adminKeyFile", "a file that can be written");
            }).block(TIME)).isInstanceOf(ConfigException.class);

            assertThat(get(empty.accounts())).isEmpty();
        } finally {
            other.close();
        }
    }

    @Test
    void anAccountGoesWithAllThatBelongsToIt() {
        String text = get(directory.addKey(ACCOUNT, user, null, "laptop", null)).text().reveal();

        directory.removeAccount(ACCOUNT).block(TIME);

        assertThat(directory.holder(text).block(TIME)).isNull();
        assertThat(get(directory.accounts())).isEmpty();
        assertThat(open.ended()).containsExactly(ACCOUNT);
        assertThatThrownBy(() -> directory.removeAccount(ACCOUNT).block(TIME))
                .isInstanceOf(StoreException.Absent.class);
    }

    @Test
    void theAccountOfAnOperatorStays(@TempDir Path folder) {
        DirectoryFile other = DirectoryFile.open(engine, folder.resolve("directory.db"), FEW,
                Clock.systemUTC());
        try {
            other.directory().bootstrap("main", key -> {}).block(TIME);
            String account = get(other.directory().accounts()).getFirst().id();

            assertThatThrownBy(() -> other.directory().removeAccount(account).block(TIME))
                    .isInstanceOf(StoreException.Conflict.class);
        } finally {
            other.close();
        }
    }

    private static Rule rule(List<String> teams) {
        return new Rule(Id.create(), "workflows", List.of("TERMINATE"), teams, List.of(),
                Map.of("namespace", List.of("argo")));
    }

    private static void assertFull(Mono<?> refused) {
        assertThatThrownBy(() -> refused.block(TIME)).isInstanceOf(StoreException.Full.class);
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(TIME));
    }
}
