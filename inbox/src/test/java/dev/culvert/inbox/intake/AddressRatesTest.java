package dev.culvert.inbox.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class AddressRatesTest {
    private static final long SECOND = 1_000_000_000;

    private final AddressRates rates = new AddressRates(10);

    @Test
    void anAddressMaySendTwoSecondsWorthAtOnce() throws UnknownHostException {
        InetAddress address = InetAddress.getByName("192.0.2.1");
        for (int i = 0; i < 20; i++) {
            assertThat(rates.take(address, 0)).isZero();
        }

        assertThat(rates.take(address, 0)).isEqualTo(SECOND / 10);
        assertThat(rates.take(InetAddress.getByName("192.0.2.2"), 0)).isZero();
        assertThat(rates.take(address, SECOND / 10)).isZero();
    }

    @Test
    void anIpv6NetworkCountsAsOneAddress() throws UnknownHostException {
        for (int i = 0; i < 20; i++) {
            assertThat(rates.take(InetAddress.getByName("2001:db8::" + i), 0)).isZero();
        }

        assertThat(rates.take(InetAddress.getByName("2001:db8::ffff"), 0)).isPositive();
        assertThat(rates.take(InetAddress.getByName("2001:db8:0:1::1"), 0)).isZero();
    }

    @Test
    void onlyTheLastAddressesAreRemembered() throws UnknownHostException {
        for (int i = 0; i <= AddressRates.MAX_ADDRESSES; i++) {
            rates.take(InetAddress.getByAddress(new byte[]{10, 1, (byte) (i >> 8), (byte) i}), 0);
        }

        assertThat(rates.size()).isEqualTo(AddressRates.MAX_ADDRESSES);
    }
}
