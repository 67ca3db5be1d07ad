package dev.culvert.appproxy.git;

import dev.culvert.http.quota.Quota;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Shares the Git processes fairly among accounts. When all places are taken, the newest run of the account
 * with the most places gives way. If no account has more than its share, a run whose caller reads its
 * response too slowly gives way. A run that has taken another's place begins when a process has ended, so the
 * maximum number of processes is never exceeded. Callable from any thread.
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

    /** Takes a place for a run. Returns false when none is available to this account. */
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

    /** Begins a run that has a place, now or as soon as a process may be started. */
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

    /** Removes a run that has ended, and begins the next waiting one. */
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

    /** The number of processes that may still be started. */
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
