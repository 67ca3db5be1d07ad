package dev.culvert.client.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.relay.upstream.UpstreamLimits;
import org.junit.jupiter.api.Test;

/** The limits of response heads on their way: each hop takes what the one before passes on. */
class HeadLimitsTest {
    /** RFC 7541 §4.1, by which the tunnel counts. */
    private static final int FIELD_OVERHEAD = 32;
    /** What a router in front of the upstream may add, as SingleUpstream reckons. */
    private static final int MORE_BYTES = 8 << 10;
    private static final int MORE_FIELDS = 32;

    @Test
    void whatARouterTakesFitsTheTunnel() {
        Limits tunnel = SessionLimits.defaults().accepts();
        int fields = UpstreamLimits.HEAD_FIELDS + MORE_FIELDS;

        assertThat(tunnel.headFields()).isGreaterThan(fields);
        assertThat(tunnel.headBytes())
                .isGreaterThan(UpstreamLimits.HEAD_BYTES + MORE_BYTES + fields * FIELD_OVERHEAD);
    }
}
