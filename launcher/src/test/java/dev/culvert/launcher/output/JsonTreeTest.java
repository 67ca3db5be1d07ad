package dev.culvert.launcher.output;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTreeTest {
    @ParameterizedTest
    @ValueSource(strings = {
            "{\"items\":[{\"a\":1,\"b\":-2.5,\"c\":\"\\u00e9\",\"d\":true,\"e\":null}],\"next\":null}",
            "[]", "7", "12345678901234567890", "\"x\"", "false", "{\"a\":{\"b\":[[],{}]}}", ""})
    void aTextIsReadAsByAMapper(String text) throws Exception {
        assertThat(JsonTree.of(text).toString()).isEqualTo(new ObjectMapper().readTree(text).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"<html>", "{\"a\":", "[1,", "{\"a\" 1}", "tru"})
    void whatIsNotJsonIsMissing(String text) {
        assertThat(JsonTree.of(text).isMissingNode()).isTrue();
    }

    @Test
    void theDepthIsBounded() {
        assertThat(JsonTree.of("[".repeat(500) + "]".repeat(500)).isArray()).isTrue();
        assertThat(JsonTree.of("[".repeat(100_000)).isMissingNode()).isTrue();
    }
}
