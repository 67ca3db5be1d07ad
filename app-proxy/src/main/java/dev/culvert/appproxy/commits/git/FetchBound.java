package dev.culvert.appproxy.commits.git;

import java.io.File;
import java.util.concurrent.TimeUnit;
import org.eclipse.jgit.lib.ProgressMonitor;

/** Ends a fetch that grows beyond a mirror's bound: looks at what has arrived from time to time. */
final class FetchBound implements ProgressMonitor {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final File objects;
    private final long maxBytes;
    private long looked = System.nanoTime();
    private boolean exceeded;

    /** @param objects the folder where arriving packs are written */
    FetchBound(File objects, long maxBytes) {
        this.objects = objects;
        this.maxBytes = maxBytes;
    }

    /** Whether the fetch was ended. */
    boolean exceeded() {
        return exceeded;
    }

    @Override
    public boolean isCancelled() {
        long now = System.nanoTime();
        if (!exceeded && now - looked > LOOK_NANOS) {
            looked = now;
            File[] files = objects.listFiles(File::isFile);
            long bytes = 0;
            for (File file : files == null ? new File[0] : files) {
                bytes += file.length();
            }
            exceeded = bytes > maxBytes;
        }
        return exceeded;
    }

    @Override
    public void start(int totalTasks) {
        // progress is told to nobody
    }

    @Override
    public void beginTask(String title, int totalWork) {
        // progress is told to nobody
    }

    @Override
    public void update(int completed) {
        // progress is told to nobody
    }

    @Override
    public void endTask() {
        // progress is told to nobody
    }

    @Override
    public void showDuration(boolean enabled) {
        // progress is told to nobody
    }
}
