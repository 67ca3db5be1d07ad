package dev.culvert.appproxy.git;

import dev.culvert.http.quota.Quota;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who may have a Git process: each account its share. When all are in use, the newest of the account that has most gives way;
 * where nobody has more than its share, one whose caller takes too little of its response does. A run that has a place begins
 * when a process of those that gave way has ended, so that there are never more than the most. Safe for use by any thread.
 */
final class GitPlaces {
    private final int max;
    private final Quota<Object> places;
    private final Set<GitRun> runs = ConcurrentHashMap.newKeySet();
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int running;

    GitPlaces(int max) {
        this.max = max;
        this.places = new Quota<>(max);
    }

    /** Takes a place for a run; false when there is none for this account. */
    boolean enter(GitRun run, Object account) {
        Quota<Object>.Claim place = places.tryOpen(account, 1, run::giveWay);
        if (place == null && freeSlowest()) {
            place = places.tryOpen(account, 1, run::giveWay);
        }
        if (place == null) {
            return false;
        }
        run.at(place);
        runs.add(run);
        return true;
    }

    /** Begins a run that has a place, now or as soon as there are processes left. */
    void begin(Runnable begin) {
        synchronized (waiting) {
            if (running >= max) {
                waiting.add(begin);
                return;
            }
            running++;
        }
        begin.run();
    }

    /** A run that had begun is over. */
    void ended(GitRun run) {
        runs.remove(run);
        Runnable next;
        synchronized (waiting) {
            next = waiting.poll();
            if (next == null) {
                running--;
            }
        }
        if (next != null) {
            next.run();
        }
    }

    void killAll() {
        runs.forEach(GitRun::kill);
    }

    /** How many processes may still be started. */
    int available() {
        synchronized (waiting) {
            return max - running;
        }
    }

    private boolean freeSlowest() {
        return runs.stream()
                .filter(run -> run.leftNanos() < 0)
                .min(Comparator.comparingLong(GitRun::leftNanos))
                .filter(GitRun::leave)
                .isPresent();
    }
}
