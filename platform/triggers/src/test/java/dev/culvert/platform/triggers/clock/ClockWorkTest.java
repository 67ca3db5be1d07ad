package dev.culvert.platform.triggers.clock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.platform.host.spi.PipelineRuns;
import dev.culvert.platform.triggers.TestPlatform;
import dev.culvert.platform.triggers.clock.ClockWork.Missed;
import dev.culvert.platform.triggers.hermes.EventSecrets;
import dev.culvert.platform.triggers.hermes.Hermes;
import dev.culvert.platform.triggers.store.ClockTable;
import dev.culvert.platform.triggers.store.ClockTable.Tick;
import dev.culvert.platform.triggers.store.StoredTrigger;
import dev.culvert.platform.triggers.store.TriggerTable;
import dev.culvert.store.Database.Engine;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

@ParameterizedClass
@EnumSource
class ClockWorkTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String ACCOUNT = "6791f6184c56bd51c65784a2";
    private static final String MINUTES = "cron:codefresh:0 * * * * *:each minute:0123456789ab";
    private static final String HOURS = "cron:codefresh:@every 1h:each hour:0123456789ab";

    private final Engine engine;

    @TempDir
    Path folder;
    private TestPlatform platform;
    private ClockWork work;

    ClockWorkTest(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void open() {
        platform = new TestPlatform(engine, folder);
        var hermes = new Hermes(platform.store, platform.feed.of("triggers"), platform.outbox.of("triggers"),
                PipelineRuns.NONE, new EventSecrets(platform.store, platform.wrapping), Clock.systemUTC(),
                platform.registry);
        work = new ClockWork(platform.store, (name, period, each) -> () -> {}, hermes, Clock.systemUTC());
        platform.store.change(connection -> {
            for (String event : List.of(MINUTES, HOURS)) {
                TriggerTable.put(connection, new StoredTrigger(ACCOUNT, event, "shop/minute", "{}"), 0);
                ClockTable.add(connection, new Tick(event, ACCOUNT, Long.MAX_VALUE));
            }
            return true;
        }).block(TIME);
    }

    @AfterEach
    void close() {
        platform.close();
    }

    private void due(String event, Instant at) {
        platform.execute("UPDATE triggers_clock SET due = " + at.toEpochMilli() + " WHERE event = '" + event
                + "'");
    }

    private void assertNothingIsDue() {
        assertThat(platform.count("triggers_clock WHERE due <= " + System.currentTimeMillis())).isZero();
    }

    /** Several processes that all believe to have the turn. */
    @Test
    void aTickStartsOnceHoweverManyTakeIt() {
        Instant first = Instant.now().minusSeconds(120);
        for (int i = 0; i < 50; i++) {
            due(HOURS, first.plusMillis(i));

            Flux.range(0, 4).flatMap(process -> work.run(change -> {}), 4).then().block(TIME);
        }

        assertThat(platform.count("triggers_run")).isEqualTo(50);
        assertNothingIsDue();
    }

    @Test
    void whatWasMissedIsMadeUpOnceOrTold() {
        due(MINUTES, Instant.now().minus(Duration.ofMinutes(30)));
        work.run(change -> {}).block(TIME);
        assertThat(platform.count("triggers_run")).isEqualTo(1);
        assertThat(platform.count("triggers_refusal")).isEqualTo(1);

        due(MINUTES, Instant.now().minus(Duration.ofDays(400)));
        work.run(change -> {}).block(TIME);
        assertThat(platform.count("triggers_refusal")).isEqualTo(2);
        assertNothingIsDue();
    }

    @Test
    void theLastTickOfTheHourIsTaken() {
        CronExpression minutes = CronExpression.parse("0 * * * * *");
        CronExpression daily = CronExpression.parse("@daily");
        Instant now = Instant.parse("2026-11-28T10:00:30Z");

        assertThat(Missed.of(minutes, Instant.parse("2026-11-28T10:00:00Z"), now)).isEqualTo(
                new Missed(Instant.parse("2026-11-28T10:00:00Z"), false,
                        Instant.parse("2026-11-28T10:01:00Z")));
        assertThat(Missed.of(minutes, Instant.parse("2026-11-28T09:58:00Z"), now)).isEqualTo(
                new Missed(Instant.parse("2026-11-28T10:00:00Z"), true,
                        Instant.parse("2026-11-28T10:01:00Z")));
        assertThat(Missed.of(daily, Instant.parse("2026-11-26T00:00:00Z"), now))
                .isEqualTo(new Missed(null, true, Instant.parse("2026-11-29T00:00:00Z")));
    }

    /** One account that has too much of something must not hold up the clock of the others. */
    @Test
    void anAccountWithoutRoomSkipsItsTicks() {
        platform.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
                + " INSERT INTO triggers_delivery (account, event, delivery, created, place) SELECT '"
                + ACCOUNT
                + "', 'e', CAST(i AS TEXT), " + System.currentTimeMillis() + ", i FROM n");
        due(MINUTES, Instant.now().minusSeconds(1));

        work.run(change -> {}).block(TIME);

        assertThat(platform.count("triggers_run")).isZero();
        assertThat(platform.count("triggers_refusal")).isEqualTo(1);
        assertNothingIsDue();
    }
}
