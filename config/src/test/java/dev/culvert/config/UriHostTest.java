package dev.culvert.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UriHostTest {
    @ParameterizedTest
    @CsvSource({"http://my_app,my_app,-1", "http://my_app:3000/x,my_app,3000",
            "http://stack_web.default_net:80,stack_web.default_net,80", "http://A_b.C_d:,a_b.c_d,-1",
            "https://[::1]:8443,[::1],8443", "http://App.Example,app.example,-1"})
    void hostsMayHaveUnderscores(URI uri, String name, int port) {
        assertThat(UriHost.of(uri)).isEqualTo(new UriHost(name, port));
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://a..b_c", "http://user@my_app", "http://my_app:x", "http://my_app:999999",
            "http://my_app:80:80", "http://-my_app", "unix:/run/app.sock", "mailto:a@b"})
    void othersHaveNone(URI uri) {
        assertThat(UriHost.of(uri)).isNull();
    }

    @Test
    void theCharacterAtFaultIsNamed() {
        assertThat(UriHost.fault("http://my!app:80/x")).isEqualTo("; '!' is no character of a host name");
        assertThat(UriHost.fault("http://my_app:80/!")).isEmpty();
        assertThat(UriHost.fault("http://[::1]:80")).isEmpty();
    }
}
