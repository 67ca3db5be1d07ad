package dev.culvert.http.path;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RawPathTest {
    @ParameterizedTest
    @ValueSource(strings = {"/", "/a/b", "//a//", "/.a", "/a.", "/...", "/..a/b", "/%2e%2e%2e", "/a%20b",
            "/%C3%A9",
            "/a%2fb", "/..a%2f.b", "*", "/...;x", "/a..;x", "/a;..", "/;..", "/.a%3bx"})
    void acceptsPathsThatNeedNoNormalising(String path) {
        assertThat(RawPath.wellFormed(path)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/.", "/..", "/a/../b", "/a/./b", "/%2e", "/%2E%2e/b", "/.%2e", "/..%2fb",
            "/a%2F..", "/a%2f%2e/b", "/..;/b", "/.;x", "/a/%2e%2e;x", "/a/..%3bx/b", "/a/.%3B", "/a%2f..;",
            "/a\\b", "/a%5cb",
            "/%5C",
            "/%00", "/a%", "/a%2", "/a%zz", "/a b", "/\u00e9", "/a\u0000", "/a#b", "/%\uff12e"})
    void refusesPathsThatAnotherServerMayReadDifferently(String path) {
        assertThat(RawPath.wellFormed(path)).isFalse();
    }
}
