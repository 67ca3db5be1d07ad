package dev.culvert.server.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.session.WindowPool;
import org.junit.jupiter.api.Test;

class RuntimeWindowsTest {
    @Test
    void allSessionsOfARuntimeHaveOneAccount() {
        var windows = new RuntimeWindows(new WindowPool(1000, () -> false));
        WindowPool.Account account = windows.of("r1");

        assertThat(windows.of("r1")).isSameAs(account);
        assertThat(windows.of("r2")).isNotSameAs(account);
    }
}
