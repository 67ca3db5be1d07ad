package dev.culvert.store.postgres;

import dev.culvert.store.LockScope;
import dev.culvert.store.StoreException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets operations begin in their order, as many as there are connections. A change begins when no other of
 * this process that it excludes runs, so that changes which wait for each other hold no connections. Changes
 * leave connections to reads. Of the places to wait, one scope gets a quarter, and reads and changes leave a
 * quarter to each other. Callable from any thread.
 */
final class OperationQueue {
    private static final int MAX_LEFT_TO_READS = 3;
    private static final int SHARES = 4;

    private final int maxChanges;
    private final int maxWaiting;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private final LinkedHashSet<Place> waiting = new LinkedHashSet<>();
    /** How many wait, by their scopes; those of reads have the key null. */
    private final Map<@Nullable LockScope, Integer> waitingOf = new HashMap<>();
    /** Of the changes that run and exclude others. */
    private final Set<LockScope> excluded = new HashSet<>();
    private int free;
    private int running;
    private int changes;
    private boolean closed;

    /**
     * @param connections how many operations run at the same time
     * @param maxWaiting how many more may wait
     */
    OperationQueue(int connections, int maxWaiting) {
        this.free = connections;
        this.maxChanges = connections - Math.clamp(connections / 3, 1, MAX_LEFT_TO_READS);
        this.maxWaiting = maxWaiting;
    }

    /** WAITING becomes RUNNING, CANCELLED (also by its end or its time) or REFUSED; RUNNING becomes ENDED. */
    private enum State {
        WAITING, RUNNING, ENDED, CANCELLED, REFUSED
    }

    /** The place of one operation. */
    final class Place {
        private final @Nullable LockScope scope;
        private final CountDownLatch decided = new CountDownLatch(1);
        /** Guarded by the lock. */
        private State state = State.WAITING;

        private Place(@Nullable LockScope scope) {
            this.scope = scope;
        }

        /**
         * Waits for the operation's turn. Returns false if it is cancelled. Throws {@link
         * StoreException.Busy} after {@code most}, or if the queue is closed.
         */
        boolean await(Duration most) throws InterruptedException {
            boolean isLate = !decided.await(most.toNanos(), TimeUnit.NANOSECONDS);
            lock.lock();
            try {
                if (isLate && state == State.WAITING) {
                    leave(this, State.CANCELLED);
                    admit();
                    throw tooMuch();
                }
                if (state == State.REFUSED) {
                    throw isClosed();
                }
                return state == State.RUNNING;
            } finally {
                lock.unlock();
            }
        }

        /** Gives up a place that waits. One that runs stays. */
        void cancel() {
            lock.lock();
            try {
                if (state == State.WAITING) {
                    leave(this, State.CANCELLED);
                    admit();
                }
            } finally {
                lock.unlock();
            }
        }

        /** Ends the operation, in whatever state it is. */
        void end() {
            lock.lock();
            try {
                if (state == State.RUNNING) {
                    state = State.ENDED;
                    ended(scope);
                    admit();
                } else if (state == State.WAITING) {
                    leave(this, State.CANCELLED);
                    admit();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Takes a place.
     *
     * @param scope of a change; null: a read
     * @throws StoreException.Busy if there is none left for it
     */
    Place enter(@Nullable LockScope scope) {
        return enter(scope, false);
    }

    /** Takes the first place, for a read. Its callers must have one at a time. */
    Place enterFirst() {
        return enter(null, true);
    }

    private Place enter(@Nullable LockScope scope, boolean isFirst) {
        lock.lock();
        try {
            if (closed) {
                throw isClosed();
            }
            var place = new Place(scope);
            if (isFirst) {
                waiting.addFirst(place);
            } else {
                waiting.add(place);
            }
            waitingOf.merge(scope, 1, Integer::sum);
            admit();
            if (!isFirst && place.state == State.WAITING && isTooMuch(scope)) {
                leave(place, State.REFUSED);
                throw tooMuch();
            }
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** Refuses what waits and what comes. Returns whether all that ran has ended within the time. */
    boolean close(Duration patience) throws InterruptedException {
        lock.lock();
        try {
            closed = true;
            List.copyOf(waiting).forEach(place -> leave(place, State.REFUSED));
            long left = patience.toNanos();
            while (running > 0 && left > 0) {
                left = ended.awaitNanos(left);
            }
            return running == 0;
        } finally {
            lock.unlock();
        }
    }

    private boolean isTooMuch(@Nullable LockScope scope) {
        int reads = waitingOf.getOrDefault(null, 0);
        int ofKind = scope == null ? reads : waiting.size() - reads;
        int share = Math.max(1, maxWaiting / SHARES);
        return waiting.size() > maxWaiting || ofKind > maxWaiting - maxWaiting / SHARES
                || scope != null && scope.kind() != LockScope.Kind.ROWS
                        && waitingOf.getOrDefault(scope, 0) > share;
    }

    private void leave(Place place, State state) {
        place.state = state;
        waiting.remove(place);
        waitingOf.computeIfPresent(place.scope, (scope, count) -> count == 1 ? null : count - 1);
        place.decided.countDown();
    }

    private void admit() {
        boolean isAllWaiting = false;
        Iterator<Place> places = waiting.iterator();
        while (free > 0 && places.hasNext()) {
            Place place = places.next();
            LockScope scope = place.scope;
            if (mayBegin(scope, isAllWaiting)) {
                places.remove();
                leave(place, State.RUNNING);
                begin(scope);
            } else {
                isAllWaiting |= LockScope.ALL.equals(scope);
            }
        }
    }

    /** Changes of a name do not overtake one that excludes them all: it would never begin. */
    private boolean mayBegin(@Nullable LockScope scope, boolean isAllWaiting) {
        if (scope == null) {
            return true;
        }
        return changes < maxChanges && switch (scope.kind()) {
            case ROWS -> true;
            case ALL -> excluded.isEmpty();
            case NAMED -> !isAllWaiting && !excluded.contains(LockScope.ALL) && !excluded.contains(scope);
        };
    }

    private void begin(@Nullable LockScope scope) {
        free--;
        running++;
        if (scope != null) {
            changes++;
            if (scope.kind() != LockScope.Kind.ROWS) {
                excluded.add(scope);
            }
        }
    }

    private void ended(@Nullable LockScope scope) {
        free++;
        running--;
        if (scope != null) {
            changes--;
            excluded.remove(scope);
        }
        ended.signalAll();
    }

    private static StoreException.Busy tooMuch() {
        return new StoreException.Busy("the database has too much to do; try again later");
    }

    private static StoreException.Busy isClosed() {
        return new StoreException.Busy("the database is closed; try again later");
    }
}
