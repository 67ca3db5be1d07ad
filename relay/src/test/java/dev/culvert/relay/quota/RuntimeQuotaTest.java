package dev.culvert.relay.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class RuntimeQuotaTest {
    private static final RuntimeLimits CONFIGURED = new RuntimeLimits(1000, 20, 40, 0, 0);

    private final RuntimeQuotas quotas = new RuntimeQuotas(CONFIGURED, MemoryBudget.ofProcess(0));

    private static OwnLimits own(RuntimeLimit limit, long value) {
        return new OwnLimits(Map.of(limit, value));
    }

    @Test
    void aRuntimeWithoutItsOwnHasTheServersLimits() {
        assertThat(quotas.of("a", OwnLimits.NONE).limits()).isEqualTo(CONFIGURED);
    }

    @Test
    void aRuntimesOwnLimitsHoldInPlaceOfTheServers() {
        RuntimeQuota quota = quotas.of("a", own(RuntimeLimit.MAX_BODY_BYTES, 5));

        assertThat(quota.limits()).isEqualTo(new RuntimeLimits(1000, 20, 40, 5, 0));
        assertThat(quotas.of("b", OwnLimits.NONE).limits()).isEqualTo(CONFIGURED);
    }

    @Test
    void anotherRateHasItsOwnBurst() {
        RuntimeQuota quota = quotas.of("a", own(RuntimeLimit.REQUESTS_PER_SECOND, 3));

        assertThat(quota.limits().requestBurst()).isEqualTo(3);
    }

    @Test
    void aChangeHoldsForTheQuotaThatIsInUse() {
        RuntimeQuota quota = quotas.of("a", own(RuntimeLimit.MAX_BODY_BYTES, 5));

        quotas.change(own(RuntimeLimit.MAX_STREAMS, 7));
        assertThat(quota.limits()).isEqualTo(new RuntimeLimits(7, 20, 40, 5, 0));
        quotas.of("a", OwnLimits.NONE);
        assertThat(quota.limits()).isEqualTo(new RuntimeLimits(7, 20, 40, 0, 0));
        quotas.change(OwnLimits.NONE);
        assertThat(quota.limits()).isEqualTo(CONFIGURED);
    }

    @Test
    void aForgottenRuntimeStartsAnew() {
        RuntimeQuota quota = quotas.of("a", OwnLimits.NONE);
        quotas.forget("a");

        assertThat(quotas.known("a")).isNull();
        assertThat(quotas.of("a", OwnLimits.NONE)).isNotSameAs(quota);
    }

    @Test
    void aValueOutsideItsRangeIsRefusedByName() {
        assertThatThrownBy(() -> own(RuntimeLimit.MAX_STREAMS, 0)).hasMessageStartingWith("maxStreams: 0");
        assertThatThrownBy(() -> own(RuntimeLimit.BYTES_PER_SECOND, 1023))
                .hasMessageStartingWith("bytesPerSecond: 1023");
    }
}
