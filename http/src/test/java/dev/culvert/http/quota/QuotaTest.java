package dev.culvert.http.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class QuotaTest {
    private final Quota<String> quota = new Quota<>(10);
    private final List<String> shed = new ArrayList<>();

    @Test
    void anAccountAloneMayUseAllAndNoMore() {
        open("noisy", 10);

        assertThat(quota.tryOpen("noisy", 1, () -> {})).isNull();
        assertThat(quota.used()).isEqualTo(10);
        assertThat(shed).isEmpty();
    }

    @Test
    void theNewestOfTheHeaviestGivesWayToAnother() {
        open("quiet", 2);
        open("noisy", 8);

        assertThat(quota.tryOpen("late", 1, () -> {})).isNotNull();
        assertThat(shed).containsExactly("noisy7");
        assertThat(quota.used()).isEqualTo(10);
    }

    @Test
    void everyAccountGetsItsEqualShareAndIsRefusedBeyond() {
        open("noisy", 10);

        long second = IntStream.range(0, 10)
                .filter(i -> quota.tryOpen("second", 1, () -> {}) != null)
                .count();

        assertThat(second).isEqualTo(5);
        assertThat(shed).hasSize(5);
    }

    @Test
    void manyKeysOfOneGroupHaveNoMoreShares() {
        var places = new Quota<SourceAddress>(1000);
        for (int i = 0; i < 1000; i++) {
            assertThat(places.tryOpen(subnet(0x20010db80001L, i), 1, () -> {})).isNotNull();
        }
        assertThat(places.accounts()).isEqualTo(Quota.MAX_OF_GROUP + 1);
        assertThat(places.usedBy(subnet(0x20010db80001L, 5000))).isEqualTo(1000 - Quota.MAX_OF_GROUP);

        SourceAddress honest = subnet(0x20010db80002L, 0);
        for (int i = 0; i < 50; i++) {
            assertThat(places.tryOpen(honest, 1, () -> shed.add("honest"))).isNotNull();
        }
        assertThat(shed).isEmpty();
        assertThat(places.tryOpen(subnet(0x20010db80001L, 5000), 1, () -> {})).isNull();
        assertThat(places.usedBy(honest)).isEqualTo(50);
    }

    @Test
    void aGroupIsForgottenWithItsClaims() {
        var places = new Quota<SourceAddress>(1000);
        List<Quota<SourceAddress>.Claim> claims = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            claims.add(Objects.requireNonNull(places.tryOpen(subnet(1, i), 1, () -> {})));
        }
        assertThat(claims.get(99).account()).isEqualTo(subnet(1, 99));
        claims.forEach(Quota.Claim::close);
        assertThat(places.accounts()).isZero();
        assertThat(places.used()).isZero();

        for (int i = 100; i < 100 + Quota.MAX_OF_GROUP; i++) {
            places.open(subnet(1, i), null).take(1);
            assertThat(places.usedBy(subnet(1, i))).isEqualTo(1);
        }
        assertThat(places.accounts()).isEqualTo(Quota.MAX_OF_GROUP);
    }

    private static SourceAddress subnet(long site, int subnet) {
        return new SourceAddress(site << 16 | subnet, true);
    }

    @Test
    void theLongestIdleGivesWayBeforeOneIsRefused() {
        List<Quota<String>.Claim> claims = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            String source = "source" + i;
            claims.add(Objects.requireNonNull(quota.tryOpen(source, 1, () -> shed.add(source))));
        }
        for (Quota<String>.Claim claim : claims) {
            if (!claim.account().equals("source3")) {
                claim.touch();
            }
        }

        assertThat(quota.tryOpen("late", 1, () -> {})).isNull();
        assertThat(quota.tryOpen("late", 1, () -> {}, 0)).isNotNull();
        assertThat(shed).containsExactly("source3");
        assertThat(quota.tryOpen("later", 1, () -> {}, 3_600_000_000_000L)).isNull();
        assertThat(quota.used()).isEqualTo(10);
    }

    /** Where all were looked at for each, this took minutes. */
    @Test
    void manyAccountsDoNotSlowDownAFullQuota() {
        int many = 20_000;
        var full = new Quota<Counted>(many);
        for (int i = 0; i < many; i++) {
            assertThat(full.tryOpen(new Counted(i), 1, () -> {})).isNotNull();
        }

        long refused = IntStream.range(0, 100_000)
                .filter(i -> full.tryOpen(new Counted(many + i), 1, () -> {}) == null)
                .count();

        assertThat(refused).isEqualTo(100_000);
    }

    private record Counted(int number) {}

    @Test
    void whoGaveBackIsNoLongerTheHeaviest() {
        var first = quota.open("first", () -> shed.add("first"));
        var second = quota.open("second", () -> shed.add("second"));
        first.take(6);
        second.take(4);
        assertThat(quota.tryOpen("third", 6, () -> {})).isNull();
        first.give(4);
        second.take(2);
        quota.open("third", null).take(3);

        assertThat(quota.tryOpen("fourth", 3, () -> {})).isNotNull();
        assertThat(shed).containsExactly("second");
    }

    @Test
    void theOrderOfAccountsFollowsAllThatTheyDo() {
        var random = new Random(7);
        var all = new ArrayList<Quota<String>.Claim>();
        for (int i = 0; i < 20_000; i++) {
            int action = random.nextInt(5);
            if (action == 0 || all.isEmpty()) {
                all.add(quota.open("a" + random.nextInt(5), () -> {}));
                continue;
            }
            var claim = all.get(random.nextInt(all.size()));
            switch (action) {
                case 1 -> claim.take(random.nextInt(3));
                case 2 -> claim.give(random.nextInt(3));
                case 3 -> {
                    claim.close();
                    all.remove(claim);
                }
                default -> {
                    boolean room = quota.used() + 1 <= quota.max();
                    long heaviest = heaviest(all, claim);
                    long own = claim.heldByAccount();
                    if (claim.tryTake(1)) {
                        assertThat(room || heaviest > own + 1).isTrue();
                    }
                }
            }
        }
        all.forEach(Quota.Claim::close);

        assertThat(quota.used()).isZero();
        assertThat(quota.accounts()).isZero();
    }

    private static long heaviest(List<Quota<String>.Claim> all, Quota<String>.Claim but) {
        return all.stream()
                .filter(claim -> !claim.account().equals(but.account()))
                .mapToLong(Quota.Claim::heldByAccount)
                .max()
                .orElse(0);
    }

    @Test
    void workThatCannotEndGivesNoWay() {
        for (int i = 0; i < 10; i++) {
            assertThat(quota.tryOpen("noisy", 1, null)).isNotNull();
        }

        assertThat(quota.tryOpen("late", 1, () -> {})).isNull();
    }

    @Test
    void bytesThatCameAreCountedBeyondTheMostAndTheHeaviestGoes() {
        var small = quota.open("small", () -> shed.add("small"));
        var first = quota.open("large", () -> shed.add("first"));
        var second = quota.open("large", () -> shed.add("second"));
        small.take(3);
        first.take(4);
        second.take(5);

        assertThat(quota.isOver()).isTrue();
        assertThat(quota.shedHeaviest(2)).isEqualTo(5);
        assertThat(shed).containsExactly("second");
        assertThat(quota.used()).isEqualTo(12);

        assertThat(quota.shedHeaviest(2)).isEqualTo(4);
        second.close();
        assertThat(quota.used()).isEqualTo(7);
    }

    @Test
    void whatIsClosedHoldsNothingWhateverItsOwnerStillTakes() {
        var claim = quota.open("a", null);
        claim.take(4);
        claim.give(9);
        claim.take(2);
        claim.close();
        claim.close();
        claim.take(3);

        assertThat(quota.used()).isZero();
        assertThat(quota.accounts()).isZero();
        assertThat(claim.tryTake(1)).isFalse();
    }

    @Test
    void threadsLoseNoUnit() throws InterruptedException {
        try (var threads = Executors.newFixedThreadPool(4)) {
            var done = new CountDownLatch(4);
            for (int thread = 0; thread < 4; thread++) {
                String key = "t" + thread % 3;
                threads.execute(() -> {
                    for (int i = 0; i < 20_000; i++) {
                        var claim = quota.tryOpen(key, 1 + i % 3, () -> {});
                        if (claim != null) {
                            claim.take(1);
                            claim.close();
                        }
                    }
                    done.countDown();
                });
            }
            done.await();
        }

        assertThat(quota.used()).isZero();
        assertThat(quota.accounts()).isZero();
    }

    private void open(String key, int places) {
        for (int i = 0; i < places; i++) {
            String name = key + i;
            assertThat(Objects.requireNonNull(quota.tryOpen(key, 1, () -> shed.add(name))).held())
                    .isEqualTo(1);
        }
    }
}
