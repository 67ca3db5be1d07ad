package dev.culvert.http.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SourceAddressTest {
    @ParameterizedTest
    @CsvSource({"192.0.2.7,192.0.2.7/32", "255.255.255.255,255.255.255.255/32",
            "2001:db8:0:1:ffff::9,2001:db8:0:1::/64", "::ffff:192.0.2.7,192.0.2.7/32"})
    void anAddressIsThatOfItsHost(String address, String source) throws UnknownHostException {
        assertThat(SourceAddress.of(InetAddress.getByName(address))).hasToString(source);
    }

    @Test
    void addressesOfOnePrefixAreOneSource() throws UnknownHostException {
        SourceAddress one = SourceAddress.of(InetAddress.getByName("2001:db8::1"));

        assertThat(one).isEqualTo(SourceAddress.of(InetAddress.getByName("2001:db8::ffff:1")))
                .isNotEqualTo(SourceAddress.of(InetAddress.getByName("2001:db8:0:1::1")));
    }

    @Test
    void whoIsNotKnownSharesAnAccount() {
        assertThat(SourceAddress.of((@Nullable InetAddress) null)).isEqualTo(SourceAddress.UNKNOWN);
        assertThat(SourceAddress.of(InetSocketAddress.createUnresolved("example.com", 1)))
                .isEqualTo(SourceAddress.UNKNOWN);
    }
}
