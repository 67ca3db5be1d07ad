package dev.culvert.benchmarks;

import dev.culvert.http.net.EventLoops;
import dev.culvert.store.SqliteDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code culvert bench inbox}: measures the webhooks a second that are synced to the disk before their
 * response, in comparison with one INSERT for each fsync on the same disk in the same run.
 */
@Command(name = "inbox", mixinStandardHelpOptions = true, description = "Stores webhooks: with group commit, and with one INSERT per fsync.", footer = {
        "", "Example:", "  culvert bench inbox --dir /var/tmp --callers 1,16,128"})
final class InboxCommand implements Callable<Integer> {
    @Option(names = "--dir", required = true, description = "On the disk that is measured; the files are removed.")
    private Path dir = Path.of("");

    @Option(names = "--callers", split = ",", defaultValue = "1,16,128", description = "Webhooks under way at once. Default: ${DEFAULT-VALUE}")
    private List<Integer> callers = List.of();

    @Option(names = "--bytes", defaultValue = "2048", description = "Of a body. Default: ${DEFAULT-VALUE}")
    private int bytes;

    @Option(names = "--seconds", defaultValue = "5", description = "Of each measurement, after half as long to warm up. Default: ${DEFAULT-VALUE}")
    private int seconds;

    @Option(names = "--deliver", description = "Deliver them, too, to event sources that answer at once: their callers wait for that.")
    private boolean deliver;

    @Override
    public Integer call() throws IOException, SQLException {
        System.out.println(Surroundings.describe());
        System.out.println();
        System.out.println("| bodies of " + bytes + " B | webhooks/s | ratio | p50 ms | p99 ms |");
        System.out.println("|---|---|---|---|---|");
        measureInserts(seconds / 2.0);
        double single = print("one INSERT per fsync", measureInserts(seconds), 0);
        EventLoops loops = EventLoops.create();
        for (int count : callers) {
            Path folder = Files.createTempDirectory(dir, "culvert-bench-inbox");
            try (var storm = new InboxStorm(folder, loops, bytes, deliver)) {
                storm.run(count, seconds / 2.0);
                print("inbox, " + count + " at once", storm.run(count, seconds), single);
            } finally {
                InboxStorm.remove(folder);
            }
        }
        loops.dispose();
        return 0;
    }

    /** @return the duration of each INSERT in nanoseconds */
    private long[] measureInserts(double forSeconds) throws IOException, SQLException {
        Path folder = Files.createTempDirectory(dir, "culvert-bench-insert");
        byte[] body = new byte[bytes];
        long[] took = new long[1 << 20];
        int count = 0;
        try (Connection connection = SqliteDatabase.connect(folder.resolve("one.db"))) {
            SqliteDatabase.update(connection,
                    "CREATE TABLE webhooks (seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT");
            long end = System.nanoTime() + (long) (forSeconds * TimeUnit.SECONDS.toNanos(1));
            while (System.nanoTime() < end && count < took.length) {
                long began = System.nanoTime();
                SqliteDatabase.transaction(connection,
                        own -> SqliteDatabase.update(own, "INSERT INTO webhooks (body) VALUES (?)", body));
                took[count++] = System.nanoTime() - began;
            }
        } finally {
            InboxStorm.remove(folder);
        }
        return Arrays.copyOf(took, count);
    }

    /** @return the number of webhooks a second */
    private double print(String what, long[] nanos, double single) {
        Arrays.sort(nanos);
        double rate = nanos.length / (double) seconds;
        System.out.printf(Locale.ROOT, "| %s | %.0f | %.1f | %.2f | %.2f |%n", what, rate,
                single == 0 ? 1 : rate / single, millis(nanos, 0.5), millis(nanos, 0.99));
        return rate;
    }

    private static double millis(long[] sorted, double share) {
        return sorted.length == 0 ? 0 : sorted[(int) ((sorted.length - 1) * share)] / 1e6;
    }
}
