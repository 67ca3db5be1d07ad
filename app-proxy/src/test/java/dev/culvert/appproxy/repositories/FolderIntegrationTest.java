package dev.culvert.appproxy.repositories;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.repositories.provider.RepositoriesPage;
import dev.culvert.appproxy.repositories.provider.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Schedulers;

class FolderIntegrationTest {
    @TempDir
    Path temp;

    @Test
    void anOddNameHidesItselfAlone() throws IOException {
        Path folder = Files.createDirectory(temp.resolve("git of acme"));
        for (String name : new String[]{"shop.git", "acme/web.git", "my shop.git", "x.git.git"}) {
            Path bare = Files.createDirectories(folder.resolve(name).resolve("objects"));
            Files.writeString(bare.resolveSibling("HEAD"), "ref: refs/heads/main\n");
        }
        var integration = new FolderIntegration("local", folder, Schedulers.immediate());

        RepositoriesPage page = Objects.requireNonNull(integration.repositories(null, 1, 50).block());

        assertThat(page.data()).extracting(Repository::fullName).containsExactly("acme/web", "shop");
        assertThat(Path.of(integration.cloneUrl("shop"))).isEqualTo(folder.resolve("shop.git"));
    }
}
