package dev.culvert.launcher.expose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.launcher.run.CommandException;
import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LocalServiceTest {
    @ParameterizedTest
    @CsvSource({"3000,http://localhost:3000", "65535,http://localhost:65535", "app:80,http://app:80",
            "[::1]:3000,http://[::1]:3000", "my_app:3000,http://my_app:3000", "http://a_b.c_d,http://a_b.c_d",
            "http://app,http://app", "https://app:8443,https://app:8443",
            "h2c://127.0.0.1:5000/,h2c://127.0.0.1:5000/"})
    void aServiceIsAPortAnAddressOrAUrl(String text, URI url) {
        assertThat(LocalService.parse(text).url()).isEqualTo(url);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "65536", "-1", "99999999999999999999", "app", "app:", "app:x", "http://",
            "http://app/path", "http://app?q", "http://user@app", "ftp://app", "wss://app", "app:0", "a b:1"})
    void othersAreRefusedWithTheRange(String text) {
        assertThatThrownBy(() -> LocalService.parse(text)).isInstanceOf(CommandException.class)
                .hasMessageContaining("a port from 1 to 65535")
                .hasMessageNotContaining("Exception");
    }
}
