package dev.culvert.launcher.output;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Shows on standard error that a command is at work, once that takes longer than two seconds. At a terminal
 * it is one line that changes each second and is gone at the end; else plain lines, 30 s apart.
 */
public final class Progress implements AutoCloseable {
    /** A command that ends before needs no explanation. */
    static final long QUIET_SECONDS = 2;
    /** Plain lines come after 2 s, and then this often: a log is not filled by them. */
    static final long PLAIN_SECONDS = 30;
    private static final String ERASE = "\r\u001b[K";

    private final String task;
    private final boolean rewrites;
    private final PrintStream err;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread clock;
    private boolean shown;
    private long nextLine = QUIET_SECONDS;

    /** @param rewrites whether it is one line that changes */
    Progress(String task, boolean rewrites, PrintStream err) {
        this.task = task;
        this.rewrites = rewrites;
        this.err = err;
        this.clock = Thread.ofPlatform().daemon().name("progress").unstarted(this::run);
    }

    /**
     * Begins to watch a command that prints nothing before its end.
     *
     * @param task what it does, as {@code culvert bench load}
     */
    public static Progress begin(String task) {
        return new Progress(task, Terminal.ofErrors().erases(), System.err).start();
    }

    /** Begins to watch a command that prints lines meanwhile: plain lines stand between them. */
    public static Progress beside(String task) {
        return new Progress(task, false, System.err).start();
    }

    private Progress start() {
        clock.start();
        return this;
    }

    private void run() {
        long begun = System.nanoTime();
        try {
            while (!ended.await(1, TimeUnit.SECONDS)) {
                tick(Duration.ofNanos(System.nanoTime() - begun).toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Shows the state after some seconds, if it is time. */
    synchronized void tick(long seconds) {
        if (seconds < QUIET_SECONDS || ended.getCount() == 0) {
            return;
        }
        if (rewrites) {
            err.print(ERASE + line(seconds));
            err.flush();
        } else if (seconds >= nextLine) {
            err.println(line(seconds));
            nextLine = seconds + PLAIN_SECONDS;
        }
        shown = true;
    }

    private String line(long seconds) {
        long minutes = seconds / 60;
        return task + ": at work for " + (minutes > 0 ? minutes + " min " : "") + seconds % 60 + " s";
    }

    /** Ends it, and takes the line of a terminal away. */
    @Override
    public synchronized void close() {
        ended.countDown();
        if (rewrites && shown) {
            err.print(ERASE);
            err.flush();
        }
    }
}
