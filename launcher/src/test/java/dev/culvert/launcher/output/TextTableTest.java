package dev.culvert.launcher.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TextTableTest {
    private static final List<List<String>> ROWS = List.of(List.of("ID", "HOST", "WHY"),
            List.of("a-long-identifier", "acme-prod.tunnels.example.com", "the runtime is not connected"),
            List.of("b", "x", ""));

    private static Terminal terminal(int width) {
        return new Terminal(true, Map.of("NO_COLOR", "1"), () -> width);
    }

    private static Terminal pipe() {
        return new Terminal(false, Map.of(), () -> {
            throw new AssertionError("a pipe has no width");
        });
    }

    @Test
    void aPipeGetsAllOfEachCell() {
        assertThat(TextTable.of(ROWS, pipe())).isEqualTo("""
                ID                 HOST                           WHY
                a-long-identifier  acme-prod.tunnels.example.com  the runtime is not connected
                b                  x""");
    }

    @Test
    void aWideTerminalDoesToo() {
        assertThat(TextTable.of(ROWS, terminal(78))).isEqualTo(TextTable.of(ROWS, pipe()));
    }

    @Test
    void aNarrowTerminalGetsWhatFits() {
        String table = TextTable.of(ROWS, terminal(50));

        assertThat(table).isEqualTo("""
                ID                 HOST            WHY
                a-long-identifier  acme-prod.tun…  the runtime is…
                b                  x""");
        assertThat(table.lines()).allMatch(line -> line.length() <= 50);
    }

    /** Commands take it as an argument. */
    @Test
    void theFirstColumnIsNeverCut() {
        assertThat(TextTable.of(ROWS, terminal(10))).isEqualTo("""
                ID                 HOST    WHY
                a-long-identifier  acme-…  the r…
                b                  x""");
    }

    @Test
    void longValuesAreFoldedAtSpacesAndATokenIsNot() {
        var rows = List.of(List.of("hosts", "a.example.com, b.example.com, c.example.com"),
                List.of("enrolmentToken", "culvert1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"));

        assertThat(TextTable.facts(rows, terminal(46))).isEqualTo("""
                hosts           a.example.com, b.example.com,
                                c.example.com
                enrolmentToken  culvert1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""");
        assertThat(TextTable.facts(rows, pipe()))
                .startsWith("hosts           a.example.com, b.example.com, c.e");
    }

    @Test
    void aCellSteersNoTerminal() {
        var rows = List.of(List.of("VERSION", "X"), List.of("1\u001b[2J\r\n\u202e\ud800", "\ud83d\ude00"));

        assertThat(TextTable.of(rows, pipe()).lines().toList().getLast())
                .isEqualTo("1?[2J????  \ud83d\ude00");
    }

    @Test
    void theHeadingOfATerminalStandsOut() {
        var coloured = new Terminal(true, Map.of(), () -> 80);

        assertThat(TextTable.of(ROWS, coloured)).startsWith("\u001b[1mID ").contains("WHY\u001b[0m\na-long");
    }
}
