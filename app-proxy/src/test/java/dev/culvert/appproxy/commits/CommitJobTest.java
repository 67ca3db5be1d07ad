package dev.culvert.appproxy.commits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.appproxy.commits.git.JGitSetup;
import dev.culvert.appproxy.commits.git.Remote;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.eclipse.jgit.internal.storage.dfs.DfsRepositoryDescription;
import org.eclipse.jgit.internal.storage.dfs.InMemoryRepository;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.treewalk.TreeWalk;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CommitJobTest {
    private static final Branch MAIN = new Branch("main");
    private static final PersonIdent ADA = new PersonIdent("Ada", "ada@acme.test", Instant.EPOCH,
            ZoneOffset.UTC);

    private final Racing remote = new Racing();

    @BeforeAll
    static void setUp() {
        JGitSetup.once();
    }

    @BeforeEach
    void firstCommit() throws IOException {
        assertThat(commit(write("a", Expected.NOTHING, "1"), write("b", Expected.NOTHING, "1"))).isPresent();
    }

    @Test
    void isMadeAgainOnWhatLandedMeanwhile() throws IOException {
        remote.meanwhile.add(draft(write("c", Expected.NOTHING, "theirs")));
        var job = new CommitJob(remote, draft(write("a", Expected.ANYTHING, "mine")));

        assertThat(job.attempt()).isEmpty();
        assertThat(job.attempt()).isPresent();

        assertThat(content("a")).isEqualTo("mine");
        assertThat(content("c")).isEqualTo("theirs");
        assertThat(commits()).isEqualTo(3);
    }

    @Test
    void conflictsWithWhatChangedTheSameFileMeanwhile() throws IOException {
        for (FileChange mine : List.of(write("a", Expected.ANYTHING, "mine"),
                new FileChange.Delete(new FilePath("a"), Expected.ANYTHING))) {
            remote.meanwhile.add(draft(write("a", Expected.ANYTHING, "theirs before " + mine)));
            var job = new CommitJob(remote, draft(mine));
            assertThat(job.attempt()).isEmpty();

            assertThatExceptionOfType(HandlerException.class).isThrownBy(job::attempt)
                    .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.CONFLICT));
            assertThat(content("a")).startsWith("theirs");
        }
    }

    @Test
    void forceWritesOverWhatLandedMeanwhileAndKeepsItsHistory() throws IOException {
        remote.meanwhile.add(draft(write("a", Expected.ANYTHING, "theirs")));
        var job = new CommitJob(remote,
                new CommitDraft(MAIN, null, List.of(write("a", Expected.ANYTHING, "mine")), "m", ADA,
                        false, true));

        assertThat(job.attempt()).isEmpty();
        assertThat(job.attempt()).isPresent();

        assertThat(content("a")).isEqualTo("mine");
        assertThat(commits()).isEqualTo(3);
    }

    @Test
    void aCommitThatChangesNothingHasToBeAllowed() throws IOException {
        FileChange same = write("a", Expected.ANYTHING, "1");

        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> commit(same));
        assertThat(new CommitJob(remote, new CommitDraft(MAIN, null, List.of(), "m", ADA, true, false))
                .attempt())
                .isPresent();
    }

    private Optional<CommitResult> commit(FileChange... changes) throws IOException {
        return new CommitJob(remote, draft(changes)).attempt();
    }

    private static CommitDraft draft(FileChange... changes) {
        return new CommitDraft(MAIN, null, List.of(changes), "m", ADA, false, false);
    }

    private static FileChange write(String path, Expected expected, String text) {
        return new FileChange.Write(new FilePath(path), expected, FileContent.of(text));
    }

    private String content(String path) throws IOException {
        try (RevWalk walk = new RevWalk(remote.objects);
                TreeWalk found = TreeWalk.forPath(remote.objects, path,
                        walk.parseCommit(Objects.requireNonNull(remote.tip)).getTree())) {
            return new String(remote.objects.open(found.getObjectId(0)).getBytes(),
                    java.nio.charset.StandardCharsets.UTF_8);
        }
    }

    private int commits() throws IOException {
        int count = 0;
        try (RevWalk walk = new RevWalk(remote.objects)) {
            walk.markStart(walk.parseCommit(Objects.requireNonNull(remote.tip)));
            while (walk.next() != null) {
                count++;
            }
        }
        return count;
    }

    /** A repository where somebody else's commit lands right before one's own. */
    private static final class Racing implements Remote, Remote.View {
        private final InMemoryRepository objects = new InMemoryRepository(new DfsRepositoryDescription("x"));
        private final Deque<CommitDraft> meanwhile = new ArrayDeque<>();
        private @Nullable ObjectId tip;

        @Override
        public View open(Purpose purpose) {
            return this;
        }

        @Override
        public @Nullable ObjectId tip(Branch branch) {
            return tip;
        }

        @Override
        public boolean empty() {
            return tip == null;
        }

        @Override
        public Repository objects() {
            return objects;
        }

        @Override
        public void provide(ObjectId id) {
            // all objects are here
        }

        @Override
        public boolean land(Branch branch, @Nullable ObjectId old, ObjectId commit) throws IOException {
            CommitDraft theirs = meanwhile.poll();
            if (theirs != null) {
                assertThat(new CommitJob(this, theirs).attempt()).isPresent();
            }
            if (!Objects.equals(tip, old)) {
                return false;
            }
            tip = commit;
            return true;
        }

        @Override
        public void close() {
            // one look is like another
        }
    }
}
