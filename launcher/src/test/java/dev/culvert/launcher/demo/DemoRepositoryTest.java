package dev.culvert.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoRepositoryTest {
    @TempDir
    Path folder;

    @Test
    void theRepositoryHasHistory() {
        Path bare = DemoRepository.create(folder, folder.resolve("git"));

        assertThat(bare.getFileName()).hasToString("demo.git");
        assertThat(new Git(folder, List.of()).run(bare, "rev-list", "--count", "main"))
                .isEqualTo(Integer.toString(DemoRepository.COMMITS));
    }

    @Test
    void clonePushAndTheirChecksWorkOnAPlainRepository() {
        Path bare = DemoRepository.create(folder, folder.resolve("git"));

        var results = new GitChecks(folder, bare, bare.toString(), List.of()).all()
                .stream()
                .map(check -> check.run().blockOptional().orElseThrow())
                .toList();

        assertThat(results).allMatch(DemoCheck.Result::passed).hasSize(2);
    }

    @Test
    void aCloneThatFailsFailsItsCheckWithGitsOwnWords() {
        Path bare = DemoRepository.create(folder, folder.resolve("git"));

        var results = new GitChecks(folder, bare, folder.resolve("nowhere.git").toString(), List.of()).all()
                .stream()
                .map(check -> check.run().blockOptional().orElseThrow())
                .toList();

        assertThat(results).noneMatch(DemoCheck.Result::passed)
                .allMatch(result -> result.line().startsWith("FAIL")
                        && result.line().contains("does not exist"));
    }

    @Test
    void gitsFailureCarriesItsOutput() {
        assertThatThrownBy(() -> new Git(folder, List.of()).run(folder, "log"))
                .isInstanceOf(DemoException.class)
                .hasMessageContaining("not a git repository");
    }

    @Test
    void aTemporaryFolderIsRemovedWithAllItHolds() {
        TemporaryFolder temporary = TemporaryFolder.create();
        DemoRepository.create(temporary.path(), temporary.path().resolve("git"));

        temporary.remove();

        assertThat(temporary.path()).doesNotExist();
    }
}
