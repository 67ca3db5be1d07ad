package dev.culvert.launcher.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Creates the bare repository {@code demo.git} with some history. Blocks, so it must run on bounded-elastic
 * threads.
 */
final class DemoRepository {
    static final int COMMITS = 5;

    private DemoRepository() {}

    /**
     * Creates it below {@code repositories}, which is created too. Returns the folder of the bare repository.
     */
    static Path create(Path folder, Path repositories) {
        try {
            Files.createDirectories(repositories);
            Path work = Files.createDirectories(folder.resolve("work"));
            Git git = new Git(folder, List.of("-c", "init.defaultBranch=main"));
            git.run(work, "init", "--quiet");
            for (int number = 1; number <= COMMITS; number++) {
                Files.writeString(work.resolve("app-" + number + ".yaml"),
                        "kind: Application\nmetadata: { name: app-" + number + " }\n");
                git.run(work, "add", ".");
                git.run(work, "commit", "--quiet", "-m", "Add application " + number);
            }
            Path bare = repositories.resolve("demo.git");
            git.run(folder, "clone", "--quiet", "--bare", work.toString(), bare.toString());
            return bare;
        } catch (IOException e) {
            throw new UncheckedIOException("the demo's repository", e);
        }
    }
}
