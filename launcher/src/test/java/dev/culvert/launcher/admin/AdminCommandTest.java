package dev.culvert.launcher.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdminCommandTest {
    @ParameterizedTest
    @CsvSource({"200,0", "204,0", "401,78", "403,1", "404,1", "409,1", "503,69"})
    void theExitCodeSaysWhoseFaultItIs(int status, int code) {
        assertThat(AdminCommand.exitCode(status)).isEqualTo(code);
    }
}
