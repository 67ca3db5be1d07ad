package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Test;

class DiallerTest {
    @Test
    void theNameInCertificatesAndProofsHasNoTrailingDotAndNoCapitals() {
        assertThat(Dialler.hostName(URI.create("wss://Tunnels.Example.com.:7443")))
                .isEqualTo("tunnels.example.com");
        assertThat(Dialler.hostName(URI.create("wss://tunnels.example.com")))
                .isEqualTo("tunnels.example.com");
    }

    @Test
    void theAddressKeepsTheDotThatTellsDnsNotToSearch() {
        assertThat(Dialler.address(URI.create("wss://tunnels.example.com.:7443")))
                .hasToString("tunnels.example.com.:7443");
    }
}
