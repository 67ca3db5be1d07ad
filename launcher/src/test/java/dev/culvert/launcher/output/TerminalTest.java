package dev.culvert.launcher.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TerminalTest {
    @ParameterizedTest
    @CsvSource({"true,'',xterm,true", "true,1,xterm,false", "true,'',dumb,false", "false,'',xterm,false"})
    void colourIsForTerminalsWhoseUserWantsIt(boolean present, String noColor, String term,
            boolean coloured) {
        var terminal = new Terminal(present, Map.of("NO_COLOR", noColor, "TERM", term), () -> 0);

        assertThat(terminal.isColoured()).isEqualTo(coloured);
    }

    @ParameterizedTest
    @CsvSource({"120,80,120", "0,80,80", "0,wide,2147483647", "0,0,2147483647", "0,999999,2147483647"})
    void theWidthIsTheTerminalsElseThatOfTheVariable(int said, String columns, int width) {
        assertThat(new Terminal(true, Map.of("COLUMNS", columns), () -> said).width()).isEqualTo(width);
    }

    @Test
    void nothingIsCutInAPipe() {
        assertThat(new Terminal(false, Map.of("COLUMNS", "20"), () -> 20).width())
                .isEqualTo(Terminal.UNBOUNDED);
    }
}
