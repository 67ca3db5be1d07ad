package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.net.DiscardAccounts.Rate;
import dev.culvert.http.quota.SourceAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class DiscardAccountsTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final SourceAddress ONE = new SourceAddress(1, false);
    private static final SourceAddress OTHER = new SourceAddress(2, false);

    private final DiscardAccounts accounts = new DiscardAccounts(new Rate(100, 1000), new Rate(200, 5000), 0);

    @Test
    void aSourceReadsItsBurstAtOnceAndThenWaits() {
        assertThat(accounts.charge(ONE, 1000, 0)).isZero();
        assertThat(accounts.charge(ONE, 100, 0)).isEqualTo(SECOND);
        assertThat(accounts.charge(ONE, 100, 0)).isEqualTo(2 * SECOND);
        assertThat(accounts.charge(ONE, 0, 2 * SECOND)).isZero();
    }

    @Test
    void theRateOfASourceBindsNoOther() {
        accounts.charge(ONE, 2000, 0);

        assertThat(accounts.charge(OTHER, 1000, 0)).isZero();
    }

    @Test
    void allSourcesTogetherHaveARateToo() {
        for (int source = 0; source < 5; source++) {
            assertThat(accounts.charge(new SourceAddress(source, true), 1000, 0)).isZero();
        }

        assertThat(accounts.charge(OTHER, 200, 0)).isEqualTo(SECOND);
    }

    @Test
    void moreSourcesThanTheTableHoldsShareOneAccount() {
        for (int source = 0; source < DiscardAccounts.MAX_SOURCES; source++) {
            accounts.charge(new SourceAddress(source, true), 1, 0);
        }

        accounts.charge(ONE, 1000, 0);

        assertThat(accounts.charge(OTHER, 100, 0)).isPositive();
        assertThat(accounts.sources()).isEqualTo(DiscardAccounts.MAX_SOURCES);
    }

    @Test
    void sourcesThatHavePaidAreForgotten() {
        for (int source = 0; source < DiscardAccounts.MAX_SOURCES; source++) {
            accounts.charge(new SourceAddress(source, true), 1, 0);
        }

        accounts.charge(ONE, 1000, 60 * SECOND);

        assertThat(accounts.sources()).isEqualTo(1);
        assertThat(accounts.charge(OTHER, 1000, 60 * SECOND)).isZero();
    }
}
