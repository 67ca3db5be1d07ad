package dev.culvert.server.runtime;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import dev.culvert.store.StoreException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class GenerationsTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    @TempDir
    Path folder;

    @Test
    void theFirstOneIsSeededFromTheClock() {
        assertThat(give(folder, NOW, 1)).isEqualTo(NOW.toEpochMilli() + 1);
    }

    @Test
    void crossingABlockReservesTheNextBeforeItIsNeeded() {
        var marks = new ArrayList<Long>();
        Generations generations = await(
                Generations.open(remembering(marks), Clock.fixed(NOW, ZoneOffset.UTC)));
        long first = generations.getAsLong();

        for (int i = 1; i <= 3 * Generations.BLOCK; i++) {
            assertThat(generations.getAsLong()).isEqualTo(first + i).isLessThanOrEqualTo(marks.getLast());
        }

        assertThat(marks).hasSizeBetween(4, 8);
    }

    @Test
    void aRestartGoesOnAboveTheLastBlock() {
        long before = give(folder, NOW, Generations.BLOCK + 7);

        assertThat(give(folder, NOW, 1)).isGreaterThan(before);
    }

    @Test
    void aClockSetBackDoesNotSetGenerationsBack() {
        long before = give(folder, NOW, 3);

        assertThat(give(folder, NOW.minus(Duration.ofDays(400)), 1)).isGreaterThan(before);
    }

    @Test
    void aRestoredBackupGivesNoneTwice() throws Exception {
        give(folder, NOW, 3);
        Path restored = Files.createDirectory(folder.resolve("restored"));
        Files.copy(folder.resolve("culvert.db"), restored.resolve("culvert.db"),
                StandardCopyOption.REPLACE_EXISTING);
        long lastGiven = give(folder, NOW.plusSeconds(60), 10 * Generations.BLOCK);

        assertThat(give(restored, NOW.plusSeconds(120), 1)).isGreaterThan(lastGiven);
    }

    @Test
    void connectsGoOnWhenTheStoreFails() {
        var failing = new ArrayList<Long>();
        GenerationStore store = ceiling -> failing.isEmpty() && failing.add(ceiling)
                ? Mono.just(0L)
                : Mono.error(new StoreException.Busy("full"));
        Generations generations = await(Generations.open(store, Clock.fixed(NOW, ZoneOffset.UTC)));
        long first = generations.getAsLong();

        for (int i = 1; i <= 2 * Generations.BLOCK; i++) {
            assertThat(generations.getAsLong()).isEqualTo(first + i);
        }
    }

    private static GenerationStore remembering(List<Long> marks) {
        return ceiling -> Mono.fromSupplier(() -> {
            long before = marks.isEmpty() ? 0 : marks.getLast();
            marks.add(ceiling);
            return before;
        });
    }

    /** Opens the store of a folder, takes {@code count} generations, and closes it. Returns the last. */
    private static long give(Path dataDir, Instant now, int count) {
        Clock clock = Clock.fixed(now, ZoneOffset.UTC);
        SqliteRuntimeStore store = await(
                SqliteRuntimeStore.open(dataDir, "t.example", StoreLimits.defaults(), clock));
        try {
            Generations generations = await(Generations.open(store.generations(), clock));
            long last = 0;
            for (int i = 0; i < count; i++) {
                last = generations.getAsLong();
            }
            return last;
        } finally {
            store.close().block();
        }
    }
}
