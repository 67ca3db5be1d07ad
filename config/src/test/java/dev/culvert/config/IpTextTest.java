package dev.culvert.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IpTextTest {
    @ParameterizedTest
    @CsvSource({"2001:db8:0:0:0:0:0:7,2001:db8::7", "2001:DB8:0:1:0:0:0:1,2001:db8:0:1::1",
            "0:0:0:0:0:0:0:0,::",
            "0:0:0:0:0:0:0:1,::1", "2001:db8:0:1:1:1:1:1,2001:db8:0:1:1:1:1:1",
            "2001:0:0:1:0:0:0:1,2001:0:0:1::1", "192.0.2.7,192.0.2.7", "fe80:0:0:0:0:0:0:1%1,fe80::1"})
    void addressesAreWrittenAsRfc5952Says(String address, String text) throws UnknownHostException {
        assertThat(IpText.of(InetAddress.getByName(address))).isEqualTo(text);
    }

    @Test
    void aSocketAddressKeepsItsNameOrIsShort() throws UnknownHostException {
        InetAddress six = InetAddress.getByName("2001:db8:0:0:0:0:0:7");

        assertThat(HostPort.of(new InetSocketAddress(six, 80))).hasToString("[2001:db8::7]:80");
        assertThat(HostPort.of(InetSocketAddress.createUnresolved("app.test", 80)))
                .hasToString("app.test:80");
    }
}
