package dev.culvert.launcher.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.launcher.run.CommandException;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdminCommandTest {
    @ParameterizedTest
    @CsvSource({"200,0", "204,0", "401,78", "403,1", "404,1", "409,1", "503,69"})
    void theExitCodeSaysWhoseFaultItIs(int status, int code) {
        assertThat(AdminOptions.exitCode(status)).isEqualTo(code);
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://localhost", "HTTP://127.0.0.1:1", "https://[::1]:65535",
            "Https://x.test/"})
    void anAddressIsHttpOrHttps(String address) {
        assertThat(AdminOptions.address(URI.create(address), Map.of())).isEqualTo(URI.create(address));
        assertThat(AdminOptions.address(null, Map.of("CULVERT_ADMIN", address)))
                .isEqualTo(URI.create(address));
    }

    @ParameterizedTest
    @ValueSource(strings = {"httpss://x.test", "ftp://x.test", "http:x.test", "x.test:9090",
            "http://x.test:0", "http://x.test:65536", "http://x.test:99999999999", "http:///x"})
    void anotherAddressIsRefusedBeforeATokenIsSent(String address) {
        assertThatThrownBy(() -> AdminOptions.address(URI.create(address), Map.of()))
                .isInstanceOf(CommandException.class)
                .hasMessage("--admin: " + address
                        + " (expected: http://host:port or https://host:port, port 1 to 65535)");
        assertThatThrownBy(() -> AdminOptions.address(null, Map.of("CULVERT_ADMIN", address)))
                .isInstanceOfSatisfying(CommandException.class,
                        wrong -> assertThat(wrong.exitCode()).isEqualTo(64))
                .hasMessageStartingWith("CULVERT_ADMIN: " + address);
    }

    @Test
    void theFlagWinsAndThisMachineIsTheDefault() {
        Map<String, String> variable = Map.of("CULVERT_ADMIN", "ht tp://x");

        assertThat(AdminOptions.address(URI.create("http://a.test"), variable).getHost()).isEqualTo("a.test");
        assertThat(AdminOptions.address(null, Map.of())).isEqualTo(URI.create("http://127.0.0.1:9090"));
        assertThatThrownBy(() -> AdminOptions.address(null, variable)).isInstanceOf(CommandException.class)
                .hasMessageStartingWith("CULVERT_ADMIN: ht tp://x (expected: ");
    }
}
