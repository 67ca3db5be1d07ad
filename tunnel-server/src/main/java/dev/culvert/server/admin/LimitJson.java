package dev.culvert.server.admin;

import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.relay.quota.RuntimeLimits;
import dev.culvert.relay.quota.RuntimeUsage;
import dev.culvert.relay.quota.RuntimeUsage.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * The responses of the admin API about limits and usage: records whose components are the JSON's members, as
 * in openapi.yaml.
 */
public final class LimitJson {
    private LimitJson() {}

    public record LimitsView(OwnLimitsView own, LimitsInForceView inForce) {
        static LimitsView of(OwnLimits own, RuntimeLimits inForce) {
            return new LimitsView(OwnLimitsView.of(own), LimitsInForceView.of(inForce));
        }
    }

    /** The given limits; null: the default. */
    public record OwnLimitsView(@Nullable Long maxStreams, @Nullable Long requestsPerSecond,
            @Nullable Long requestBurst, @Nullable Long maxBodyBytes, @Nullable Long bytesPerSecond) {
        static OwnLimitsView of(OwnLimits own) {
            return new OwnLimitsView(own.value(RuntimeLimit.MAX_STREAMS),
                    own.value(RuntimeLimit.REQUESTS_PER_SECOND), own.value(RuntimeLimit.REQUEST_BURST),
                    own.value(RuntimeLimit.MAX_BODY_BYTES), own.value(RuntimeLimit.BYTES_PER_SECOND));
        }
    }

    public record LimitsInForceView(long maxStreams, long requestsPerSecond, long requestBurst,
            long maxBodyBytes,
            long bytesPerSecond) {
        static LimitsInForceView of(RuntimeLimits limits) {
            return new LimitsInForceView(limits.maxStreams(), limits.requestsPerSecond(),
                    limits.requestBurst(), limits.maxBodyBytes(), limits.bytesPerSecond());
        }
    }

    public record UsageView(long requests, long bytesIn, long bytesOut, RefusedView refused) {
        static UsageView of(RuntimeUsage usage) {
            return new UsageView(usage.requests(), usage.bytesIn(), usage.bytesOut(),
                    new RefusedView(usage.refusals(Refusal.STREAMS), usage.refusals(Refusal.RATE),
                            usage.refusals(Refusal.BODY), usage.refusals(Refusal.MEMORY)));
        }
    }

    public record RefusedView(long streams, long rate, long body, long memory) {}
}
