package dev.culvert.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;

class AdminRoleTest {
    private static AdminRole role(String word) {
        return Objects.requireNonNull(AdminRole.of(word));
    }

    @Test
    void eachRoleCoversThoseBelow() {
        assertThat(role("admin").covers(role("operate"))).isTrue();
        assertThat(role("operate").covers(role("operate"))).isTrue();
        assertThat(role("read").covers(role("operate"))).isFalse();
        assertThat(AdminRole.of("Admin")).isNull();
    }

    @Test
    void aRegistrarIsBesideTheOthers() {
        for (String other : new String[]{"read", "operate", "admin"}) {
            assertThat(role("registrar").covers(role(other))).isFalse();
            assertThat(role(other).covers(role("registrar"))).isFalse();
        }
    }
}
