package dev.culvert.appproxy.commits.git;

import java.io.File;
import java.util.concurrent.TimeUnit;
import org.eclipse.jgit.lib.ProgressMonitor;

/** Cancels a fetch that grows beyond a mirror's bound. Checks the size of the received packs at intervals. */
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

    /** Whether the fetch was cancelled. */
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
        // progress is not reported
    }

    @Override
    public void beginTask(String title, int totalWork) {
        // progress is not reported
    }

    @Override
    public void update(int completed) {
        // progress is not reported
    }

    @Override
    public void endTask() {
        // progress is not reported
    }

    @Override
    public void showDuration(boolean enabled) {
        // progress is not reported
    }
}
