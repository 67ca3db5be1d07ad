package dev.culvert.platform.directory.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.platform.directory.rules.AccessDecisions;
import dev.culvert.platform.host.spi.Event;
import dev.culvert.platform.host.spi.EventPage;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.store.EndingAccounts;
import dev.culvert.platform.host.store.EventFeed;
import dev.culvert.store.Database.Engine;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a decision costs, and when a change is in force. */
@ParameterizedClass
@EnumSource
class DecisionCostTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String ACCOUNT = "6791f6184c56bd51c65784a2";
    private static final AccessQuery OF_NOBODY = new AccessQuery("", "workflows", "VIEW", Map.of());

    private final AtomicLong reads = new AtomicLong();
    private final AtomicLong changes = new AtomicLong();
    private final Engine engine;
    private DirectoryFile open;
    private Directory directory;
    private final List<String> users = new ArrayList<>();
    private String team = "";

    DecisionCostTest(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void open(@TempDir Path folder) {
        open = DirectoryFile.open(engine, folder.resolve("directory.db"), DirectoryLimits.defaults(),
                Clock.systemUTC(), store -> new CountingStore(store, reads, changes));
        directory = open.directory();
        get(directory.addAccount(ACCOUNT, "acme"));
        for (int i = 0; i < 10; i++) {
            users.add(get(directory.addUser(ACCOUNT, "u" + i, i + "@acme.test", false)).id());
        }
        team = get(directory.addTeam(ACCOUNT, "ops", List.of())).id();
        for (int i = 0; i < 20; i++) {
            get(directory.addRule(ACCOUNT, rule("ns-" + i)));
        }
        // the feed has begun when a decision needs no more reads
        Awaitility.await().atMost(TIME).until(() -> {
            allowed(users.getFirst(), "ns-0");
            long before = reads.get();
            allowed(users.getFirst(), "ns-0");
            return reads.get() == before;
        });
    }

    @AfterEach
    void close() {
        open.close();
    }

    @Test
    void tenThousandDecisionsReadAndParseNothing() {
        directory.setMember(ACCOUNT, team, users.getFirst(), true).block(TIME);
        long last = get(directory.changes(ACCOUNT, -1)).next();
        Awaitility.await().atMost(TIME).until(() -> open.decisions().lastSeen() == last);
        users.forEach(user -> allowed(user, "ns-0"));
        long parsed = directory.parsedRules();
        long read = reads.get();
        long changed = changes.get();

        int allowed = 0;
        for (int i = 0; i < 10_000; i++) {
            allowed += allowed(users.get(i % 10), "ns-" + i % 40) ? 1 : 0;
        }

        assertThat(allowed).isEqualTo(500);
        assertThat(directory.parsedRules()).isEqualTo(parsed);
        assertThat(reads).hasValue(read);
        assertThat(changes).hasValue(changed);
    }

    @Test
    void aChangeIsInForceForTheNextDecision() {
        String user = users.getFirst();
        for (int i = 0; i < 50; i++) {
            assertThat(allowed(user, "extra")).isFalse();
            directory.setMember(ACCOUNT, team, user, true).block(TIME);
            Rule rule = get(directory.addRule(ACCOUNT, rule("extra")));
            assertThat(allowed(user, "extra")).isTrue();
            if (i % 2 == 0) {
                directory.removeRule(ACCOUNT, rule.id()).block(TIME);
                assertThat(allowed(user, "extra")).isFalse();
                directory.setMember(ACCOUNT, team, user, false).block(TIME);
            } else {
                directory.setMember(ACCOUNT, team, user, false).block(TIME);
                assertThat(allowed(user, "extra")).isFalse();
                directory.removeRule(ACCOUNT, rule.id()).block(TIME);
            }
        }
    }

    @Test
    void aRemovedTeamOrUserMayNothing() {
        String user = users.getFirst();
        directory.setMember(ACCOUNT, team, user, true).block(TIME);
        assertThat(allowed(user, "ns-1")).isTrue();
        String other = get(directory.addTeam(ACCOUNT, "more", List.of(user))).id();
        get(directory.addRule(ACCOUNT, new Rule(Id.create(), "workflows", List.of("VIEW"), List.of(other),
                List.of(user), Map.of("namespace", List.of("theirs")))));
        assertThat(allowed(user, "theirs")).isTrue();

        directory.removeTeam(ACCOUNT, team).block(TIME);
        assertThat(allowed(user, "ns-1")).isFalse();
        directory.removeUser(ACCOUNT, user, false).block(TIME);
        assertThat(allowed(user, "theirs")).isFalse();
    }

    /** Another process has other caches over the same tables; the feed alone tells it. */
    @Test
    void anotherProcessLearnsOfAChange() {
        Events events = new EventFeed(open.store(), 100).of("directory");
        var other = new Directory(open.store(), events, new EndingAccounts(), DirectoryLimits.defaults(),
                Clock.systemUTC(), open.signing());
        var decisions = new AccessDecisions(other, "directory");
        decisions.follow(events);
        try {
            directory.setMember(ACCOUNT, team, users.getFirst(), true).block(TIME);
            for (int i = 0; i < 20; i++) {
                Rule rule = get(directory.addRule(ACCOUNT, rule("late")));
                Awaitility.await()
                        .atMost(TIME)
                        .until(() -> get(decisions.decide(ACCOUNT, of(users.getFirst(), "late"))).isValid());
                directory.removeRule(ACCOUNT, rule.id()).block(TIME);
                Awaitility.await()
                        .atMost(TIME)
                        .until(() -> !get(decisions.decide(ACCOUNT, of(users.getFirst(), "late")))
                                .isValid());
            }
        } finally {
            decisions.stop();
        }
    }

    /** What is kept may be old when the feed can't be read. */
    @Test
    void aDecisionReadsTheDatabaseWhileTheFeedIsLate() {
        var isCurrent = new AtomicBoolean(true);
        var decisions = new AccessDecisions(directory, "directory");
        decisions.follow(new SilentEvents(isCurrent::get));
        AccessQuery query = of(users.getFirst(), "ns-0");
        get(decisions.decide(ACCOUNT, query));
        long before = reads.get();

        get(decisions.decide(ACCOUNT, query));
        assertThat(reads).hasValue(before);
        isCurrent.set(false);
        get(decisions.decide(ACCOUNT, query));
        assertThat(reads).hasValue(before + 2);
        isCurrent.set(true);
        get(decisions.decide(ACCOUNT, query));
        assertThat(reads).hasValue(before + 2);
        decisions.stop();
    }

    /** A feed without events. */
    private record SilentEvents(BooleanSupplier isCurrent) implements Events {
        @Override
        public void add(Connection change, String account, String kind, @Nullable String subject) {}

        @Override
        public EventPage since(Connection connection, String account, long since) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Disposable onCommit(Consumer<String> listener) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Flux<Event> follow(Consumer<BooleanSupplier> begun) {
            return Flux.<Event>never().doOnSubscribe(subscribed -> begun.accept(isCurrent));
        }
    }

    /** An account may be made again under its id. */
    @Test
    void aDeletedAccountsRulesAreGone() {
        String user = users.getFirst();
        directory.setMember(ACCOUNT, team, user, true).block(TIME);
        assertThat(allowed(user, "ns-0")).isTrue();

        get(directory.removeAccount(ACCOUNT));
        assertThat(allowed(user, "ns-0")).isFalse();
        get(directory.addAccount(ACCOUNT, "acme again"));
        assertThat(allowed(user, "ns-0")).isFalse();
        assertThat(get(open.decisions().decide(ACCOUNT, OF_NOBODY)).isValid()).isFalse();
    }

    private Rule rule(String namespace) {
        return new Rule(Id.create(), "workflows", List.of("VIEW"), List.of(team), List.of(),
                Map.of("namespace", List.of(namespace)));
    }

    private static AccessQuery of(String user, String namespace) {
        return new AccessQuery(user, "workflows", "VIEW", Map.of("namespace", namespace));
    }

    private boolean allowed(String user, String namespace) {
        return get(open.decisions().decide(ACCOUNT, of(user, namespace))).isValid();
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(TIME));
    }
}
