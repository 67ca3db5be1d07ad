package dev.culvert.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallerPathTest {
    @Test
    void aPlainPathHasOneReading() {
        CallerPath path = CallerPath.of("/a/b?x=/../c");

        assertThat(path.raw()).containsExactly("a", "b");
        assertThat(path.readings()).containsExactly(path.raw());
        assertThat(path.isDevious()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/%61dmin", "//admin", "/admin;x", "/;x/admin", "/%2561dmin", "/%252561dmin",
            "/%2fadmin",
            "/\\admin", "/%5cadmin", "/admin%3bx/y", "/admin%20", "/admin%09/x", "/%2520admin",
            "/%2f%2fadmin/"})
    void whatSomeServerMayTakeForAnotherPathIsReadAsThat(String target) {
        assertThat(CallerPath.of(target).readings())
                .anySatisfy(reading -> assertThat(reading.getFirst()).isEqualTo("admin"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a/../admin", "/a/..;/admin", "/a/%2e%2e/admin", "/a/..%2fadmin",
            "/a/%252e%252e/admin",
            "/a/.%2e;x=y/admin", "/%25252525252561dmin", "/./admin", "/%2e/admin", "/%c0%afadmin",
            "/%e0%80%afadmin",
            "/%25c0%25afadmin", "/a/..\\admin", "/a/..%20/admin"})
    void aPathThatClimbsOrHidesIsDevious(String target) {
        assertThat(CallerPath.of(target).isDevious()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"admin", "", "/a//b", "/a/./b", "/a/../b", "/%61", "/a;b", "/a b", "/é", "/a?b"})
    void theRulesOwnPathsArePlain(String path) {
        assertThatThrownBy(() -> RulePath.of(path)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aRuleCoversItsPathAndWhatIsBelow() {
        RulePath rule = RulePath.of("/admin/");

        assertThat(rule).isEqualTo(RulePath.of("/admin"));
        assertThat(rule.covers(List.of("admin"))).isTrue();
        assertThat(rule.covers(List.of("admin", "x"))).isTrue();
        assertThat(rule.covers(List.of("administrator"))).isFalse();
        assertThat(RulePath.of("/").covers(List.of(""))).isTrue();
    }
}
