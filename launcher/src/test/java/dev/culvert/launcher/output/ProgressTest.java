package dev.culvert.launcher.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream err = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    private String seen(boolean rewrites, int seconds) {
        var progress = new Progress("migrate", rewrites, err);
        for (int i = 1; i <= seconds; i++) {
            progress.tick(i);
        }
        progress.close();
        progress.tick(seconds + 30);
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void whatEndsSoonShowsNothing() {
        assertThat(seen(true, 1)).isEmpty();
        assertThat(seen(false, 1)).isEmpty();
    }

    @Test
    void aTerminalHasOneLineThatIsGoneAtTheEnd() {
        assertThat(seen(true, 3)).isEqualTo(
                "\r\u001b[Kmigrate: at work for 2 s\r\u001b[Kmigrate: at work for 3 s\r\u001b[K");
    }

    @Test
    void elsewhereAreAFewPlainLines() {
        assertThat(seen(false, 65).lines()).containsExactly("migrate: at work for 2 s",
                "migrate: at work for 32 s", "migrate: at work for 1 min 2 s");
    }
}
