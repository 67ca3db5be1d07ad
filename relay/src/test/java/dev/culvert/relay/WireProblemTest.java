package dev.culvert.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class WireProblemTest {
    private static final Path PROTOCOL = Path.of("..", "docs", "protocol.md");

    @ParameterizedTest
    @EnumSource
    void everyCauseCrossesTheTunnelAndComesBack(Cause cause) {
        int number = WireProblem.number(cause);

        Problem problem = WireProblem.problem(number, 4, "why", Cause.INTERNAL);

        assertThat(number).isBetween(1, 255);
        assertThat(problem.cause()).isEqualTo(cause);
        assertThat(problem.detail()).isEqualTo("why");
    }

    @ParameterizedTest
    @EnumSource
    void everyHopCrossesTheTunnelAndComesBack(Hop hop) {
        int number = WireProblem.number(hop);

        assertThat(number).isBetween(1, 255);
        assertThat(WireProblem.problem(1, number, "", Cause.INTERNAL).hop()).isEqualTo(hop);
    }

    @ParameterizedTest
    @EnumSource
    void aCauseHasTheNumberOfTheProtocol(Cause cause) throws IOException {
        String page = Files.readString(PROTOCOL);

        assertThat(Pattern.compile("\\b" + WireProblem.number(cause) + " " + cause.word() + "\\b")
                .matcher(page)
                .find()).as("%d %s in docs/protocol.md §10", WireProblem.number(cause), cause.word())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 30, 255, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void anUnknownCauseIsDerivedFromTheCode(int number) {
        Problem problem = WireProblem.problem(number, 4, "why", Cause.TUNNEL_LOST);

        assertThat(problem.cause()).isEqualTo(Cause.TUNNEL_LOST);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 5, 255, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void anUnknownHopIsTheTunnel(int number) {
        assertThat(WireProblem.problem(1, number, "why", Cause.INTERNAL).hop()).isEqualTo(Hop.TUNNEL);
    }

    @Test
    void aResetWithoutWordsTellsTheCausesTitle() {
        assertThat(WireProblem.problem(12, 4, "", Cause.INTERNAL).detail())
                .isEqualTo(Cause.UPSTREAM_TIMEOUT.title());
    }

    @Test
    void onlyWhereWaitingHelpsIsTheCallerToldToWait() {
        assertThat(WireProblem.problem(6, 3, "", Cause.INTERNAL).retryAfter())
                .isEqualTo(Duration.ofSeconds(1));
        assertThat(WireProblem.problem(8, 3, "", Cause.INTERNAL).retryAfter()).isNull();
    }
}
