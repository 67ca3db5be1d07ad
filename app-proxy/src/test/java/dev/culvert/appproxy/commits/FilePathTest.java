package dev.culvert.appproxy.commits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.culvert.handlers.spi.HandlerException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FilePathTest {
    @ParameterizedTest
    @ValueSource(strings = {"a", "a/b/c.yaml", ".github/workflows/x.yml", ".gitignore", "a..b/c", "...",
            "git/x",
            "größe/日本.txt", "a b", "x.git/y", ".gitmodules"})
    void namesAFile(String path) {
        assertThat(new FilePath(path)).hasToString(path);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/etc/passwd", "../x", "a/../b", "a/./b", "a//b", "a/", ".git/config",
            "a/.git",
            ".GIT/hooks/pre-commit", ".Git", ".git./x", ".git /x", ".git::$INDEX_ALLOCATION/x",
            "git~1/config",
            "GIT~2/x", ".g\u200cit/x", ".\u202egit", "\ufeff.git/config", "a\\b", "..\\x", "C:\\x",
            "a\u0000b",
            "a\nb", "\ud800"})
    void refusesWhatLeadsElsewhere(String path) {
        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> new FilePath(path))
                .satisfies(
                        error -> assertThat(error.reason()).isEqualTo(HandlerException.Reason.BAD_REQUEST));
    }

    @Test
    void isBounded() {
        assertThat(new FilePath("a/".repeat(63) + "a").segments()).hasSize(64);
        refusesWhatLeadsElsewhere("a/".repeat(64) + "a");
        refusesWhatLeadsElsewhere("a".repeat(256));
        refusesWhatLeadsElsewhere(("a".repeat(99) + "/").repeat(21) + "a");
    }
}
