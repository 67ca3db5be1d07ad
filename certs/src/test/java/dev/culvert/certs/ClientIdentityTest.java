package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientIdentityTest {
    @Test
    void uriNamesAccountRuntimeAndId() {
        assertThat(new ClientIdentity("acme", "prod-1", "aB_-9").uri())
                .hasToString("urn:culvert:runtime:acme:prod-1:aB_-9");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-a", "a-", "A", "a:b", "a.b", "ä", "a\n"})
    void namesOutsideTheRulesCanNotExist(String name) {
        assertThatThrownBy(() -> new ClientIdentity(name, "prod", "id")).isInstanceOf(CertsException.class);
        assertThatThrownBy(() -> new ClientIdentity("acme", name, "id")).isInstanceOf(CertsException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a:b", "a b", "a/b",
            "12345678901234567890123456789012345678901234567890123456789012345"})
    void idsOutsideTheRulesCanNotExist(String id) {
        assertThatThrownBy(() -> new ClientIdentity("acme", "prod", id)).isInstanceOf(CertsException.class);
    }
}
