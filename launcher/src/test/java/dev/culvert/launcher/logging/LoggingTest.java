package dev.culvert.launcher.logging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class LoggingTest {
    private static final String[] BREAKS = {"\r", "\u001b", "\u0085", "\u2028", "\u2029", "\u009b", "\u202e"};
    /** Everything that may end a line, and a line of the audit log. */
    private static final String FORGED = "\n\r\n" + String.join("", BREAKS)
            + "\n1999-01-01T00:00:00.000Z INFO  audit runtime deleted actor=\"root\"";

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

    @ParameterizedTest
    @EnumSource
    void aPeersWordsForgeNoLine(LogSettings.Format format) {
        String lines = logged(format, log -> log.atInfo()
                .addKeyValue("detail", "drained" + FORGED)
                .addKeyValue("closed" + FORGED, new IllegalStateException("gone" + FORGED))
                .log("session ended: {}", "late" + FORGED));

        assertThat(lines).hasLineCount(1).doesNotContain(BREAKS).contains("late", "drained", "gone");
    }

    @ParameterizedTest
    @EnumSource
    void messagesOfErrorsForgeNoLine(LogSettings.Format format) {
        var error = new IllegalStateException("gone" + FORGED,
                new IllegalArgumentException("because" + FORGED));
        error.addSuppressed(new IllegalStateException("beside" + FORGED));

        String lines = logged(format, log -> log.error("task failed", error));

        assertThat(lines).contains("gone", "because", "beside").doesNotContain("\r", "\u001b", "\u2028");
        assertThat(lines.lines()).noneMatch(line -> line.startsWith("1999"));
    }

    @Test
    void aValueForgesNoFurtherKey() {
        String lines = logged(LogSettings.Format.TEXT,
                log -> log.atInfo().addKeyValue("detail", "x\" actor=\"root").log("closed"));

        assertThat(lines).contains("detail=\"x\\\" actor=\\\"root\"");
    }

    @Test
    void othersLettersStay() {
        String lines = logged(LogSettings.Format.TEXT, log -> log.info("grüße, 東京 😀"));

        assertThat(lines).contains("grüße, 東京 😀");
    }

    @Test
    void anAccessLineBeginsWithWhatIsLookedFor() {
        String line = logged(LogSettings.Format.TEXT, log -> access("/a b", 1_203_502));

        assertThat(line).matches(
                "\\S+T\\S+ GET /a\\\\x20b 502 1203\\.502ms access requestId=\"5b0f\" cause=\"no-route\"\n");
        assertThat(logged(LogSettings.Format.TEXT, log -> access("", 7)))
                .contains(" GET - 502 0.007ms access ");
    }

    @Test
    void anAccessLineInJsonHasAllKeysInTheirOrder() {
        assertThat(logged(LogSettings.Format.JSON, log -> access("/a b", 3_502)))
                .contains(
                        "\"message\":\"request\",\"requestId\":\"5b0f\",\"method\":\"GET\",\"path\":\"/a b\","
                                + "\"status\":502,\"cause\":\"no-route\",\"totalMicros\":3502}");
    }

    private static void access(String path, long micros) {
        LoggerFactory.getLogger("access")
                .atInfo()
                .addKeyValue("requestId", "5b0f")
                .addKeyValue("method", "GET")
                .addKeyValue("path", path)
                .addKeyValue("status", 502)
                .addKeyValue("cause", "no-route")
                .addKeyValue("totalMicros", micros)
                .log("request");
    }

    private static String logged(LogSettings.Format format) {
        return logged(format, log -> {
            log.atInfo().addKeyValue("runtime", "acme/prod").addKeyValue("streams", 3).log("tunnel opened");
            log.atDebug().log("too fine");
        });
    }

    private static String logged(LogSettings.Format format, Consumer<Logger> what) {
        var bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        Logging.toStandardOutput(new LogSettings(format, LogSettings.Level.INFO));

        what.accept(LoggerFactory.getLogger("dev.culvert.sample"));

        Logging.end(); // writes what waits
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
