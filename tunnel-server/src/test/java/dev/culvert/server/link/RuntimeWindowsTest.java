package dev.culvert.server.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.netty.WindowPool;
import dev.culvert.protocol.session.WindowAccount;
import org.junit.jupiter.api.Test;

class RuntimeWindowsTest {
    @Test
    void allSessionsOfARuntimeHaveOneAccount() {
        var windows = new RuntimeWindows(new WindowPool(1000, () -> false));
        WindowAccount account = windows.of("r1");

        assertThat(windows.of("r1")).isSameAs(account);
        assertThat(windows.of("r2")).isNotSameAs(account);
    }
}
