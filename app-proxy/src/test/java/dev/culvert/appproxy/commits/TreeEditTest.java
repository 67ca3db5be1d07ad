package dev.culvert.appproxy.commits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.culvert.appproxy.commits.git.JGitSetup;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.eclipse.jgit.internal.storage.dfs.DfsRepositoryDescription;
import org.eclipse.jgit.internal.storage.dfs.InMemoryRepository;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.ObjectChecker;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.TreeFormatter;
import org.eclipse.jgit.treewalk.TreeWalk;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TreeEditTest {
    private final InMemoryRepository objects = new InMemoryRepository(new DfsRepositoryDescription("x"));

    @BeforeAll
    static void setUp() {
        JGitSetup.once();
    }

    @Test
    void treesAreThoseThatGitWouldMake() throws IOException {
        Random random = new Random(11);
        Map<String, String> model = new TreeMap<>();
        ObjectId tree = null;
        String[] names = {"a", "a.b", "a-b", "a0", "b", "ä", "B"};
        for (int round = 0; round < 200; round++) {
            List<FileChange> changes = new ArrayList<>();
            String folder = random.nextBoolean() ? "" : names[random.nextInt(names.length)] + "d/";
            String path = folder + names[random.nextInt(names.length)];
            if (model.containsKey(path) && random.nextInt(3) > 0) {
                changes.add(new FileChange.Delete(new FilePath(path), Expected.ANYTHING));
                model.remove(path);
            } else {
                changes.add(write(path, Expected.ANYTHING, "round " + round));
                model.put(path, "round " + round);
            }

            tree = edit(tree, changes);

            assertThat(files(tree)).isEqualTo(model);
            checkTrees(tree);
        }
    }

    @Test
    void allConflictsAreToldAtOnceAndNothingIsChanged() throws IOException {
        ObjectId tree = edit(null,
                List.of(write("a", Expected.NOTHING, "1"), write("b", Expected.NOTHING, "2")));
        ObjectId stale = ObjectId.fromString("1".repeat(40));

        assertThatExceptionOfType(HandlerException.class)
                .isThrownBy(() -> edit(tree, List.of(write("a", Expected.NOTHING, "x"),
                        write("b", Expected.exactly(stale), "x"), write("c", Expected.exactly(stale), "x"))))
                .withMessageContaining("a is at revision ")
                .withMessageContaining("b is at revision ")
                .withMessageContaining("c does not exist, not at " + stale.name())
                .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.CONFLICT));
    }

    @Test
    void modesOfFilesStay() throws IOException {
        ObjectId script;
        try (ObjectInserter inserter = objects.newObjectInserter()) {
            var formatter = new TreeFormatter();
            formatter.append("run.sh", FileMode.EXECUTABLE_FILE,
                    inserter.insert(Constants.OBJ_BLOB, new byte[1]));
            script = formatter.insertTo(inserter);
            inserter.flush();
        }

        ObjectId tree = edit(script, List.of(write("run.sh", Expected.ANYTHING, "echo")));

        try (ObjectReader reader = objects.newObjectReader()) {
            assertThat(TreeWalk.forPath(reader, "run.sh", tree).getFileMode())
                    .isEqualTo(FileMode.EXECUTABLE_FILE);
        }
    }

    @Test
    void aPathIsAFileOrAFolder() {
        assertThatExceptionOfType(HandlerException.class)
                .isThrownBy(() -> edit(null,
                        List.of(write("a", Expected.NOTHING, ""), write("a/b", Expected.NOTHING, ""))));
        assertThatExceptionOfType(HandlerException.class)
                .isThrownBy(() -> edit(null,
                        List.of(write("a/b", Expected.NOTHING, ""), write("a", Expected.NOTHING, ""))));
        assertThatExceptionOfType(HandlerException.class)
                .isThrownBy(() -> edit(null,
                        List.of(write("a", Expected.NOTHING, ""), write("a", Expected.NOTHING, ""))));
    }

    private static FileChange write(String path, Expected expected, String text) {
        return new FileChange.Write(new FilePath(path), expected, FileContent.of(text));
    }

    private ObjectId edit(@Nullable ObjectId tree, List<FileChange> changes) throws IOException {
        try (ObjectReader reader = objects.newObjectReader();
                ObjectInserter inserter = objects.newObjectInserter()) {
            ObjectId edited = new TreeEdit(reader, inserter).apply(tree, ChangeTree.of(changes));
            inserter.flush();
            return edited;
        }
    }

    private Map<String, String> files(ObjectId tree) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (TreeWalk walk = new TreeWalk(objects)) {
            walk.addTree(tree);
            walk.setRecursive(true);
            while (walk.next()) {
                byte[] content = objects.open(walk.getObjectId(0)).getBytes();
                files.put(walk.getPathString(), new String(content, java.nio.charset.StandardCharsets.UTF_8));
            }
        }
        return files;
    }

    private void checkTrees(ObjectId tree) throws IOException {
        var checker = new ObjectChecker();
        checker.check(Constants.OBJ_TREE, objects.open(tree).getBytes());
        try (TreeWalk walk = new TreeWalk(objects)) {
            walk.addTree(tree);
            while (walk.next()) {
                if (walk.isSubtree()) {
                    checker.check(Constants.OBJ_TREE, objects.open(walk.getObjectId(0)).getBytes());
                    walk.enterSubtree();
                }
            }
        }
    }
}
