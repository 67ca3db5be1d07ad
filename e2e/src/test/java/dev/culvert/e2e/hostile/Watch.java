package dev.culvert.e2e.hostile;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Asks the admin listener again and again, as an operator and a collector of metrics do. */
final class Watch implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMillis(250);
    static final String HEAP = "heap";
    /** What is left of the heap by a collection. */
    static final String LIVE = "heap after collection";
    static final String DIRECT = "direct";
    static final String USED = "budget used";
    static final String MAX = "budget max";
    static final String BUFFERED = "buffered";

    private final Target target;
    private final Supplier<Figures> figures;
    private volatile boolean over;

    /** @param figures where to what is measured now belongs */
    Watch(Target target, Supplier<Figures> figures) {
        this.target = target;
        this.figures = figures;
        Thread.ofPlatform().daemon().name("watch").start(this::watch);
    }

    private void watch() {
        while (!over) {
            Figures now = figures.get();
            try {
                now.peak(read(now));
            } catch (IOException e) {
                if (!over) {
                    now.failed("admin: " + e);
                }
            } catch (InterruptedException e) {
                return;
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private Map<String, Double> read(Figures now) throws IOException, InterruptedException {
        timed(now, "/api/v1/runtimes");
        return metrics(timed(now, "/metrics"));
    }

    private String timed(Figures now, String path) throws IOException, InterruptedException {
        long began = System.nanoTime();
        HttpResponse<String> answer = target.admin("GET", path, "");
        if (answer.statusCode() != 200) {
            throw new IOException(path + " " + answer.statusCode());
        }
        now.admin.add(began);
        return answer.body();
    }

    /** What the server holds now, in bytes. */
    Map<String, Double> now() throws IOException, InterruptedException {
        return metrics(target.admin("GET", "/metrics", "").body());
    }

    /** What is judged of a scrape, in bytes. */
    static Map<String, Double> metrics(String text) {
        Map<String, Double> sums = new TreeMap<>();
        text.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            String name = line.substring(0, line.lastIndexOf(' '));
            String kept = name.startsWith("jvm_memory_used_bytes{area=\"heap\"")
                    ? HEAP
                    : name.startsWith("netty_allocator_memory_used{") && name.contains("direct")
                            ? DIRECT
                            : name.startsWith("culvert_memory_budget_bytes{kind=\"used\"")
                                    ? USED
                                    : name.startsWith("culvert_memory_budget_bytes{kind=\"max\"")
                                            ? MAX
                                            : name.startsWith("culvert_buffered_bytes") ? BUFFERED : "";
            if (!kept.isEmpty()) {
                sums.merge(kept, Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)), Double::sum);
            }
        });
        return sums;
    }

    @Override
    public void close() {
        over = true;
    }
}
