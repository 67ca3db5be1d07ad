package dev.culvert.inbox.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.inbox.model.CommitListener;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.store.StoreException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nothing that one change does ends the thread that all need. */
class CommitThreadTest {
    @TempDir
    Path folder;

    @Test
    void aChangeThatFailsUnexpectedlyIsToldAndOthersGoOn() throws SQLException {
        InboxFiles files = InboxFiles.open(folder, Clock.systemUTC());
        var commits = new CommitThread(files.file(), files.writes(), files.lease(), Clock.systemUTC(),
                new Failing(), new KnownSources(1000), files.mark(), 0);
        var bug = new CompletableFuture<StoreException>();
        var worse = new CompletableFuture<StoreException>();
        commits.<Boolean>submit(tx -> {
            throw new IllegalStateException("a bug");
        }, 0, done -> {}, bug::complete);
        commits.<Boolean>submit(tx -> {
            throw new StackOverflowError();
        }, 0, done -> {}, worse::complete);
        commits.submit(tx -> true, 0, done -> {
            throw new IllegalStateException("in the telling");
        }, failed -> {});
        var after = new CompletableFuture<Integer>();
        commits.submit(tx -> tx.update("UPDATE sequence SET last = 7"), 0, after::complete,
                after::completeExceptionally);

        commits.start();

        assertThat(bug.join()).isInstanceOf(StoreException.Failed.class);
        assertThat(worse.join()).isInstanceOf(StoreException.Failed.class);
        assertThat(after.join()).isEqualTo(1);
        commits.close().join();
        files.reads().close();
    }

    private record Failing() implements CommitListener {
        @Override
        public void found(List<SourceKey> others) {}

        @Override
        public void committed(int tasks, long nanos) {
            throw new IllegalStateException("in the listener");
        }
    }
}
