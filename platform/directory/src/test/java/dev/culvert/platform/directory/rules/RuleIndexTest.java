package dev.culvert.platform.directory.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.platform.directory.store.AccessQuery;
import dev.culvert.platform.directory.store.Rule;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RuleIndexTest {
    private static final Rule ARGO = new Rule("r", "workflows", List.of("TERMINATE"), List.of("team"),
            List.of(),
            Map.of("namespace", List.of("argo", "ci-*")));

    @Test
    void allowsMembersWhatItNames() {
        assertThat(allows(ARGO, asked("TERMINATE", Map.of("namespace", "argo")), Set.of("team"))).isTrue();
        assertThat(
                allows(ARGO, asked("TERMINATE", Map.of("namespace", "ci-7", "runtime", "x")), Set.of("team")))
                .isTrue();
    }

    @Test
    void allowsNothingElse() {
        assertThat(allows(ARGO, asked("STOP", Map.of("namespace", "argo")), Set.of("team"))).isFalse();
        assertThat(allows(ARGO, asked("TERMINATE", Map.of("namespace", "prod")), Set.of("team"))).isFalse();
        assertThat(allows(ARGO, asked("TERMINATE", Map.of()), Set.of("team"))).isFalse();
        assertThat(allows(ARGO, asked("TERMINATE", Map.of("namespace", "argo")), Set.of("other"))).isFalse();
    }

    @Test
    void anyOfTheLabelsCounts() {
        Rule red = new Rule("r", "workflows", List.of("STOP"), List.of(), List.of("u"),
                Map.of("label", List.of("team=red")));

        assertThat(allows(red, asked("STOP", Map.of("label", "tier=web,team=red")), Set.of())).isTrue();
        assertThat(allows(red, asked("STOP", Map.of("label", "tier=web,team=redder")), Set.of())).isFalse();
    }

    @Test
    void aPrefixOfAPrefixCovers() {
        ValuePatterns patterns = ValuePatterns.of(List.of("a-*", "a*", "a-b-*", "b", "c-1*", "c-2*"));

        assertThat(List.of("a", "a-x", "a-b-c", "az", "b", "c-1", "c-29")).allMatch(patterns::match);
        assertThat(List.of("", "A", "ba", "c-", "c-3", "c", "`")).noneMatch(patterns::match);
        assertThat(ValuePatterns.of(List.of("*", "x")).match("")).isTrue();
        assertThat(patterns.prefixes()).containsExactly("a", "c-1", "c-2");
    }

    private static boolean allows(Rule rule, AccessQuery query, Set<String> teams) {
        return "r".equals(RuleIndex.of(List.of(rule)).allowing(query, teams));
    }

    private static AccessQuery asked(String action, Map<String, String> attributes) {
        return new AccessQuery("u", "workflows", action, attributes);
    }
}
