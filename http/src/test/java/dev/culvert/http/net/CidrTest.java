package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CidrTest {
    @ParameterizedTest
    @CsvSource({"10.0.0.0/8,10.255.1.2,true", "10.0.0.0/8,11.0.0.1,false", "10.1.128.0/17,10.1.200.1,true",
            "10.1.128.0/17,10.1.127.1,false", "127.0.0.1,127.0.0.1,true", "127.0.0.1,127.0.0.2,false",
            "0.0.0.0/0,8.8.8.8,true", "::/0,8.8.8.8,false", "fd00::/8,fdab::1,true",
            "fd00::/8,fe80::1,false"})
    void containsTheAddressesOfItsBlock(String block, String address, boolean contained)
            throws UnknownHostException {
        assertThat(Cidr.parse(block).contains(InetAddress.getByName(address))).isEqualTo(contained);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "example.com", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "10.0.0/8",
            "::/129"})
    void refusesWhatIsNoBlock(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Cidr.parse(text))
                .withMessageContaining("expected");
    }
}
