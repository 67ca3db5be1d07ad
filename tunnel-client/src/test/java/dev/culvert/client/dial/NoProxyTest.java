package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NoProxyTest {
    @ParameterizedTest
    @CsvSource({"example.com, example.com, true", "example.com, a.b.example.com, true",
            "example.com, notexample.com, false",
            "Example.COM, EXAMPLE.com, true", ".example.com, a.example.com, true",
            ".example.com, example.com, false",
            "*.example.com, a.example.com, true", "*.example.com, example.com, false", "*, anything, true",
            "*, 10.1.2.3, true", "example.com:443, example.com, false", "example.com:7443, example.com, true",
            "10.0.0.0/8, 10.1.2.3, true", "10.0.0.0/8, 11.1.2.3, false", "10.1.2.3, 10.1.2.3, true",
            "10.1.2.3:7443, 10.1.2.3, true", "10.1.2.3:1, 10.1.2.3, false", "fd00::/8, fd00::7, true",
            "::1, ::1, true",
            "[::1], 0:0:0:0:0:0:0:1, true", "[::1]:7443, ::1, true", "[::1]:1, ::1, false",
            "10.0.0.0/8, ten.example, false", "7, 10.0.0.7, false"})
    void anEntryCoversWhatItSays(String entry, String host, boolean covered) {
        assertThat(NoProxy.of("noProxy", List.of(entry)).covers(host, 7443)).isEqualTo(covered);
    }

    @Test
    void aVariableIsSplitAtCommasAndWhiteSpaceAndMayHoldWhatWeDoNotKnow() {
        NoProxy exceptions = NoProxy.lenient("a.example, b.example\t10.0.0.0/99,,c.*.example,d.example");

        assertThat(exceptions.covers("a.example", 1)).isTrue();
        assertThat(exceptions.covers("b.example", 1)).isTrue();
        assertThat(exceptions.covers("d.example", 1)).isTrue();
        assertThat(exceptions.covers("10.0.0.1", 1)).isFalse();
        assertThat(exceptions.covers("c.x.example", 1)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.0/33", "a:b:c", "a.example:x", "a.example:99999", "a*.example", "."})
    void whatIsNoEntryIsRefusedInAFile(String entry) {
        assertThatThrownBy(() -> NoProxy.of("noProxy", List.of(entry))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("\"" + entry + "\"");
    }

    @Test
    void aListOfMoreThanAThousandIsRefused() {
        assertThatThrownBy(() -> NoProxy.of("noProxy", Collections.nCopies(1001, "a.example")))
                .isInstanceOf(ConfigException.class);
    }
}
