package dev.culvert.inbox.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.model.Naming;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.store.SqliteDatabase;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TransactionTest {
    private static final List<String> RUNTIMES = List.of("acme/prod", "acme/test");
    private final Random random = new Random(7);
    private final KnownSources known = new KnownSources(1000);
    private InboxFiles files;
    private long time;

    @BeforeEach
    void open(@TempDir Path folder) {
        files = InboxFiles.open(folder, Clock.systemUTC());
    }

    @AfterEach
    void close() throws SQLException {
        files.writes().close();
        files.reads().close();
    }

    @Test
    void pendingSourcesAreThoseThatANewTransactionReads() throws SQLException {
        String before = sources(transaction());
        int changed = 0;
        for (int i = 0; i < 200; i++) {
            Transaction one = transaction();
            String counted = SqliteDatabase.transaction(files.writes(), own -> {
                for (int change = random.nextInt(8); change >= 0; change--) {
                    change(one);
                }
                one.finish();
                return sources(one);
            });

            String read = sources(transaction());

            assertThat(counted).isEqualTo(read);
            changed += read.equals(before) ? 0 : 1;
            before = read;
        }
        assertThat(changed).isGreaterThan(50);
    }

    /** Asks often: what is asked once is counted on. */
    private void change(Transaction one) throws SQLException {
        String runtime = RUNTIMES.get(random.nextInt(RUNTIMES.size()));
        String source = "argo/source" + random.nextInt(6);
        boolean some = one.pending(runtime, source).entries() > 0;
        switch (random.nextInt(5)) {
            case 0, 1 -> {
                if (!one.isKnown(runtime, source)) {
                    one.open(runtime, source, new SourceAddress(1 + random.nextInt(3), random.nextBoolean()));
                }
                one.count(runtime, source, WebhookState.PENDING, 1, 100);
            }
            case 2 -> {
                if (some) {
                    one.count(runtime, source, WebhookState.PENDING, -1, -100);
                    one.count(runtime, source, WebhookState.DELIVERED, 1, 100);
                }
            }
            case 3 -> one.named(runtime, source, Naming.at(random.nextInt(3)));
            default -> {
                if (random.nextInt(10) == 0) {
                    one.addKnown(runtime, source);
                }
            }
        }
    }

    private Transaction transaction() {
        return new Transaction(new Statements(files.writes()), files.lease(), known, new Totals(), time++);
    }

    private static String sources(Transaction one) throws SQLException {
        var text = new StringBuilder();
        for (String runtime : RUNTIMES) {
            PendingSources sources = one.pendingSources(runtime);
            text.append(sources.all())
                    .append(' ')
                    .append(sources.unknown().stream().map(NewSource::toString).sorted().toList())
                    .append(' ')
                    .append(sources.sum(source -> true))
                    .append('\n');
        }
        return text.toString();
    }
}
