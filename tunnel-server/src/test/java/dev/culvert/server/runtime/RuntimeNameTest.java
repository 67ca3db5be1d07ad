package dev.culvert.server.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RuntimeNameTest {
    @ParameterizedTest
    @ValueSource(strings = {"a", "0", "acme", "a-b", "a--b", "6791f6184c56bd51c65784a2"})
    void nameOfLettersDigitsAndInnerHyphensIsValid(String part) {
        assertThat(new RuntimeName(part, "x").label()).isEqualTo(part + "-x");
        assertThat(new RuntimeName("x", part).toString()).isEqualTo("x/" + part);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "-a", "a-", "A", "a.b", "a_b", "a/b", "ä", "a\n", " a"})
    void otherNamesAreRefusedByField(String part) {
        assertThatThrownBy(() -> new RuntimeName(part, "x")).isInstanceOf(InvalidNameException.class)
                .hasMessageStartingWith("account: ");
        assertThatThrownBy(() -> new RuntimeName("x", part)).isInstanceOf(InvalidNameException.class)
                .hasMessageStartingWith("name: ");
    }

    @Test
    void accountHyphenAndNameFitOneLabel() {
        assertThat(new RuntimeName("a".repeat(31), "b".repeat(31)).label()).hasSize(63);
        assertThatThrownBy(() -> new RuntimeName("a".repeat(31), "b".repeat(32)))
                .isInstanceOf(InvalidNameException.class)
                .hasMessageContaining("64");
        assertThatThrownBy(() -> new RuntimeName("a".repeat(1_000_000), "b"))
                .isInstanceOf(InvalidNameException.class)
                .message()
                .hasSizeLessThan(300);
    }

    @Test
    void customHostIsKeptInItsComparedForm() {
        assertThat(CustomHost.parse("Git.Example.COM.")).isEqualTo("git.example.com");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "a..b", "a:80", "*.a.example", "-a.example", "a b", "a/b", "ä.example"})
    void customHostThatIsNoDnsNameIsRefused(String host) {
        assertThatThrownBy(() -> CustomHost.parse(host)).isInstanceOf(InvalidNameException.class)
                .hasMessageStartingWith("hosts: ");
    }

    @Test
    void customHostLongerThanADnsNameIsRefused() {
        String name = ("a".repeat(49) + ".").repeat(5);

        assertThat(CustomHost.parse(name + "bbb")).hasSize(253);
        assertThatThrownBy(() -> CustomHost.parse(name + "bbbb")).isInstanceOf(InvalidNameException.class);
    }
}
