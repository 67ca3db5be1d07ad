package dev.culvert.benchmarks.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.benchmarks.process.BenchException;
import java.util.List;
import org.junit.jupiter.api.Test;

class TargetChoiceTest {
    @Test
    void aTargetWithoutItsProgramIsSkipped() {
        TargetChoice choice = TargetChoice.available(TargetKinds.builtIn(),
                program -> !List.of("sshd", "haproxy").contains(program));

        assertThat(choice.kinds()).extracting(TargetKind::name)
                .containsExactly("direct", "nginx1", "nginx2", "culvert", "culvert-ingress");
        assertThat(choice.skipped()).containsExactly(
                "haproxy2 needs haproxy (expected: on the PATH, or an executable file)",
                "ssh needs sshd (expected: on the PATH, or an executable file)");
    }

    @Test
    void aTargetThatWasAskedForIsNotSkipped() {
        List<TargetKind> asked = List.of(TargetKinds.DIRECT, NginxTarget.of(2));

        assertThatThrownBy(() -> TargetChoice.asked(asked, program -> false))
                .isInstanceOfSatisfying(BenchException.class,
                        missing -> assertThat(missing.exitCode()).isEqualTo(69))
                .hasMessage("nginx2 needs nginx (expected: on the PATH, or an executable file)");
        assertThat(TargetChoice.asked(asked, program -> true).kinds()).isEqualTo(asked);
    }

    @Test
    void messagesNameAllTargets() {
        assertThat(TargetKinds.builtIn()).allMatch(kind -> TargetKinds.ACCEPTS.contains(kind.name()));
        assertThat(TargetKinds.named("nginx3")).isNull();
        assertThat(TargetKinds.named("script:")).isNull();
    }
}
