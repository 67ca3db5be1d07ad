package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.launcher.config.LogSettings;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LoggingTest {
    private final PrintStream out = System.out;

    @AfterEach
    void giveStandardOutputBack() {
        System.setOut(out);
        Logging.toStandardError();
    }

    @Test
    void keysAndValuesAppearInTextLines() {
        assertThat(logged(LogSettings.Format.TEXT)).contains("INFO")
                .contains("tunnel opened")
                .contains("runtime=\"acme/prod\"")
                .contains("streams=\"3\"")
                .hasLineCount(1);
    }

    @Test
    void keysAndValuesAppearInJsonLines() {
        assertThat(logged(LogSettings.Format.JSON)).startsWith("{\"time\":\"")
                .contains("\"level\":\"INFO\"")
                .contains("\"message\":\"tunnel opened\"")
                .contains("\"runtime\":\"acme/prod\"")
                .contains("\"streams\":3")
                .endsWith("}\n")
                .hasLineCount(1);
    }

    private static String logged(LogSettings.Format format) {
        var bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        Logging.toStandardOutput(new LogSettings(format, LogSettings.Level.INFO));

        var log = LoggerFactory.getLogger("dev.culvert.sample");
        log.atInfo().addKeyValue("runtime", "acme/prod").addKeyValue("streams", 3).log("tunnel opened");
        log.atDebug().log("too fine");

        Logging.end(); // writes what waits
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
