package dev.culvert.platform.triggers.hermes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FiltersTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"^v1\\.     | v1.2   | true", "^v1\\.     | v2.0   | false",
            "1           | v1.2   | true", "SKIP:^latest$ | latest | false", "SKIP:^latest$ | v1 | true",
            "^v          | ''     | true", "''          | v1     | true", "(?i)^V      | v1     | true"})
    void aFilterIsFoundInItsField(String pattern, String value, boolean starts) {
        Filters filters = Filters.of(Map.of("tag", pattern));

        assertThat(filters.refusal(Map.of("tag", value)) == null).isEqualTo(starts);
        assertThat(Filters.parse(filters.json()).refusal(Map.of("tag", value)) == null).isEqualTo(starts);
    }

    @Test
    void allFiltersCount() {
        Filters filters = Filters.of(Map.of("tag", "^v", "name", "web"));

        assertThat(filters.refusal(Map.of("tag", "v1", "name", "web"))).isNull();
        assertThat(filters.refusal(Map.of("tag", "v1", "name", "api")))
                .isEqualTo("filter name: \"api\" does not match web");
        assertThat(filters.refusal(Map.of())).isNull();
    }

    @Test
    void forksAreTakenWhereTheFilterSaysSo() {
        assertThat(Filters.of(Map.of()).refusal(Map.of("fork", "true"))).contains("comes from a fork");
        assertThat(Filters.of(Map.of("fork", "true")).refusal(Map.of("fork", "true"))).isNull();
        assertThat(Filters.of(Map.of("fork", "true")).refusal(Map.of("fork", "false"))).isNotNull();
        assertThat(Filters.of(Map.of()).refusal(Map.of("fork", "false"))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"(", "[a", "a{1001}", "(a{50}){50}", "((a{2,40}){30}){2}", "(?=a)", "a**", "\\1"})
    void whatIsNoPatternOfRe2IsRefused(String pattern) {
        assertThatThrownBy(() -> Filters.of(Map.of("tag", pattern)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("filters.tag: ");
    }

    @Test
    void thePatternsAreBounded() {
        assertThatThrownBy(() -> Filters.of(Map.of("tag", "a".repeat(1_025))))
                .hasMessageContaining("at most 1024");
        Filters.of(Map.of("tag", "a".repeat(1_024)));
        Map<String, String> many = new HashMap<>();
        for (int i = 0; i <= 16; i++) {
            many.put("f" + i, "a");
        }
        assertThatThrownBy(() -> Filters.of(many)).hasMessageContaining("at most 16");
        assertThatThrownBy(() -> Filters.of(Map.of("Tag", "a"))).hasMessageContaining("name of a field");
        assertThat(Filters.of(Map.of("tag", "a")).refusal(Map.of("tag", "b".repeat((64 << 10) + 1))))
                .contains("expected: at most 65536");
        // Would take java.util.regex for ever.
        assertThat(Filters.of(Map.of("tag", "^(a+)+$")).refusal(Map.of("tag", "a".repeat(60_000) + "b")))
                .isNotNull();
    }
}
