package dev.culvert.http.quota;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Shares a limited resource fairly among accounts. Units are bytes or slots. While units are free, an account
 * may use all of them. When none are free, the newest claim of the heaviest account is shed; a request by the
 * heaviest account itself is refused. So no account can keep another from its equal share, and a single
 * account is not limited.
 *
 * <p>A holder of many keys has no more shares for it: of {@link Grouped} keys, {@value #MAX_OF_GROUP} of a
 * group have an account of their own at a time, and all further ones share that of the group.
 *
 * <p>Safe for use by any thread. Opening, closing and {@link Claim#tryTake} take a lock for a moment; {@link
 * Claim#give} does not, and {@link Claim#take} only while the accounts are kept in order. Accounts are kept
 * in order from the time when no units are free until half are free again. Therefore the cost of finding the
 * heaviest account hardly depends on the number of accounts. Accounts exist while they have claims, so the
 * number of claims bounds them.
 *
 * @param <K> the key of an account, for example a {@link SourceAddress} or the id of a runtime
 */
public final class Quota<K> {
    /** The keys of one group that have their own accounts at a time. */
    static final int MAX_OF_GROUP = 16;

    private volatile long max;
    private final AtomicLong used = new AtomicLong();
    private final Map<Object, Account> accounts = new HashMap<>();
    /** The accounts of single keys, by their group. Guarded by this. */
    private final Map<Object, Integer> members = new HashMap<>();
    /** The accounts, the heaviest last; null while units are free. Guarded by this. */
    private @Nullable NavigableSet<Account> byUse;
    /** Whether {@link #byUse} is kept. */
    private volatile boolean ordered;
    /** The leaving units of all accounts. Guarded by this. */
    private long leaving;
    private long accountsMade;
    /** Until then no claim is idle for as long as was asked last, so that no refusal looks at all of them. */
    private long noneIdleUntil = System.nanoTime();

    /** A key that one holder can have many of. */
    public interface Grouped {
        /** A key that stands for all of the group, and is in no group itself; null if there is no group. */
        @Nullable
        Object group();
    }

    private static final class Account {
        static final Comparator<Account> ORDER = Comparator.<Account>comparingLong(each -> each.rank)
                .thenComparingLong(each -> each.number);

        final long number;
        /** A key of this quota, or the group of some. */
        final Object key;
        final AtomicLong used = new AtomicLong();
        /** The claims in the order of opening. */
        final LinkedHashSet<Object> claims = new LinkedHashSet<>();
        /** Units of shed claims that have not been returned yet. Guarded by the quota's lock. */
        long leaving;
        /** Its use when it was last sorted; the present use may be lower. Guarded by the quota's lock. */
        long rank;

        Account(long number, Object key) {
            this.number = number;
            this.key = key;
        }

        long staying() {
            return used.get() - leaving;
        }
    }

    /** The units that one piece of work uses. Its owner closes it when the work has ended. */
    public final class Claim implements AutoCloseable {
        private final K key;
        private final Account account;
        private final @Nullable Runnable shed;
        private final AtomicLong held = new AtomicLong();
        /** The units held when this claim was shed; -1 before. Guarded by the quota's lock. */
        private long leaving = -1;
        private volatile long touchedNanos = System.nanoTime();
        private volatile boolean closed;

        private Claim(K key, Account account, @Nullable Runnable shed) {
            this.key = key;
            this.account = account;
            this.shed = shed;
        }

        /**
         * Counts units that are already in use, also when none are free. {@link Quota#isOver} reports the
         * excess. Has no effect after close.
         */
        public void take(long units) {
            count(units);
            if (ordered) {
                synchronized (Quota.this) {
                    rank(account);
                }
            }
        }

        private void count(long units) {
            held.addAndGet(units);
            account.used.addAndGet(units);
            used.addAndGet(units);
            if (closed) {
                give(units);
            }
        }

        /**
         * Counts units if they are free or a heavier account can be shed. Returns false and counts nothing if
         * this account itself would be the heaviest.
         */
        public boolean tryTake(long units) {
            List<Claim> gaveWay = new ArrayList<>(0);
            boolean taken = take(units, Long.MAX_VALUE, any -> false, gaveWay);
            gaveWay.forEach(Claim::runShed);
            return taken;
        }

        private boolean take(long units, long idleNanos, Predicate<K> spared, List<Claim> gaveWay) {
            synchronized (Quota.this) {
                if (closed) {
                    return false;
                }
                while (used.get() + units > max) {
                    Claim next = newestOfHeaviest(account.staying() + units, spared);
                    if (next == null) {
                        next = longestIdle(idleNanos);
                    }
                    if (next == null) {
                        return false;
                    }
                    next.remove();
                    gaveWay.add(next);
                }
                count(units);
                rank(account);
                return true;
            }
        }

        /** Records that the work goes on, for {@link Quota#tryOpen(Object, long, Runnable, long)}. */
        public void touch() {
            touchedNanos = System.nanoTime();
        }

        /** When the work was opened, or touched last. */
        public long touchedNanos() {
            return touchedNanos;
        }

        /** Returns units, at most those held. */
        public void give(long units) {
            long before = held.getAndUpdate(now -> now - Math.min(now, units));
            long given = Math.min(before, units);
            account.used.addAndGet(-given);
            used.addAndGet(-given);
        }

        /** The units that this claim holds. */
        public long held() {
            return held.get();
        }

        /** The units that its account holds. */
        public long heldByAccount() {
            return account.used.get();
        }

        public K account() {
            return key;
        }

        /** Returns all units. Has no effect if the claim was closed or shed before. */
        @Override
        public void close() {
            synchronized (Quota.this) {
                remove();
            }
        }

        private void remove() {
            if (!closed) {
                closed = true;
                give(held.get());
                account.leaving -= Math.max(0, leaving);
                Quota.this.leaving -= Math.max(0, leaving);
                account.claims.remove(this);
                if (account.claims.isEmpty()) {
                    forget(account);
                }
                rank(account);
                endOrder();
            }
        }

        /** Marks the claim as leaving. Returns the units that its end will free. */
        private long leave() {
            leaving = held();
            account.leaving += leaving;
            Quota.this.leaving += leaving;
            rank(account);
            return leaving;
        }

        /** Returns all units, and ends the work as if it had been shed. */
        public void giveWay() {
            close();
            runShed();
        }

        private void runShed() {
            if (shed != null) {
                shed.run();
            }
        }
    }

    /** @param max the number of units that all accounts together may use */
    public Quota(long max) {
        this.max = positive(max);
    }

    private static long positive(long max) {
        if (max < 1) {
            throw new IllegalArgumentException("max: " + max + " (expected: at least 1)");
        }
        return max;
    }

    /**
     * Changes the number of units that all accounts together may use. Units in use stay with their claims
     * until another account needs them.
     */
    public void resize(long newMax) {
        max = positive(newMax);
    }

    /**
     * Opens a claim, which holds no units yet.
     *
     * @param shed runs once, on the thread that needs the units, when the claim is shed; it must end the work
     *     on the work's own thread. Null: this claim is never shed
     */
    public synchronized Claim open(K key, @Nullable Runnable shed) {
        Account account = accountOf(key);
        Claim claim = new Claim(key, account, shed);
        account.claims.add(claim);
        return claim;
    }

    private Account accountOf(K key) {
        Account present = existing(key);
        if (present != null) {
            return present;
        }
        Object counted = key;
        Object group = groupOf(key);
        if (group != null && members.getOrDefault(group, 0) >= MAX_OF_GROUP) {
            counted = group;
        } else if (group != null) {
            members.merge(group, 1, Integer::sum);
        }
        Account account = new Account(accountsMade++, counted);
        accounts.put(counted, account);
        if (byUse != null) {
            byUse.add(account);
        }
        return account;
    }

    /** The account that counts for a key; null if it has no claims. */
    private @Nullable Account existing(K key) {
        Account own = accounts.get(key);
        Object group = own == null ? groupOf(key) : null;
        return group != null && members.getOrDefault(group, 0) >= MAX_OF_GROUP ? accounts.get(group) : own;
    }

    private static @Nullable Object groupOf(Object key) {
        return key instanceof Grouped grouped ? grouped.group() : null;
    }

    private void forget(Account account) {
        if (accounts.remove(account.key, account)) {
            Object group = groupOf(account.key);
            if (group != null) {
                members.merge(group, -1, (now, less) -> now == 1 ? null : now + less);
            }
            if (byUse != null) {
                byUse.remove(account);
            }
        }
    }

    /** Opens a claim that takes units at once. Returns null if {@link Claim#tryTake} refuses. */
    public @Nullable Claim tryOpen(K key, long units, @Nullable Runnable shed) {
        return tryOpen(key, units, shed, Long.MAX_VALUE);
    }

    /**
     * As above, but instead of a refusal the claim gives way that was not touched for longest, if that is at
     * least {@code idleNanos}.
     */
    public @Nullable Claim tryOpen(K key, long units, @Nullable Runnable shed, long idleNanos) {
        return tryOpen(key, units, shed, idleNanos, any -> false);
    }

    /**
     * As {@link #tryOpen(Object, long, Runnable)}, but no account gives way for which {@code spared} holds.
     */
    public @Nullable Claim tryOpen(K key, long units, @Nullable Runnable shed, Predicate<K> spared) {
        return tryOpen(key, units, shed, Long.MAX_VALUE, spared);
    }

    private @Nullable Claim tryOpen(K key, long units, @Nullable Runnable shed, long idleNanos,
            Predicate<K> spared) {
        Claim claim = open(key, shed);
        List<Claim> gaveWay = new ArrayList<>(0);
        boolean taken = claim.take(units, idleNanos, spared, gaveWay);
        gaveWay.forEach(Claim::runShed);
        if (taken) {
            return claim;
        }
        claim.close();
        return null;
    }

    /** The claim that was not touched for longest, if that is at least {@code nanos}. */
    private @Nullable Claim longestIdle(long nanos) {
        long now = System.nanoTime();
        if (nanos == Long.MAX_VALUE || now - noneIdleUntil < 0) {
            return null;
        }
        Claim longest = null;
        for (Account account : accounts.values()) {
            for (Object each : account.claims) {
                @SuppressWarnings("unchecked") // an account holds this quota's claims only
                Claim claim = (Claim) each;
                if (claim.shed != null && claim.leaving < 0 && claim.held() > 0
                        && (longest == null || claim.touchedNanos - longest.touchedNanos < 0)) {
                    longest = claim;
                }
            }
        }
        if (longest == null || now - longest.touchedNanos < nanos) {
            noneIdleUntil = longest == null ? now : longest.touchedNanos + nanos;
            return null;
        }
        return longest;
    }

    /**
     * Sheds the newest claims of the heaviest accounts until {@code excess} units are leaving. Their owners
     * return the units when the work has ended. Returns the number of leaving units.
     */
    public long shedHeaviest(long excess) {
        List<Claim> gaveWay = new ArrayList<>();
        long units = 0;
        synchronized (this) {
            while (units < excess) {
                Claim newest = newestOfHeaviest(0, any -> false);
                if (newest == null) {
                    break;
                }
                units += newest.leave();
                gaveWay.add(newest);
            }
        }
        gaveWay.forEach(Claim::runShed);
        return units;
    }

    /**
     * As {@link #shedHeaviest}, for an account that needs units: sheds only accounts that use more than it
     * does, and counts the units that are already leaving.
     */
    public long shedHeavierThan(K key, long excess) {
        return shedHeavierThan(key, 0, excess);
    }

    /** As above. Accounts that use at most {@code floor} units are not shed. */
    public long shedHeavierThan(K key, long floor, long excess) {
        List<Claim> gaveWay = new ArrayList<>();
        long units;
        synchronized (this) {
            units = leaving;
            Account own = existing(key);
            long above = Math.max(floor, own == null ? 0 : own.staying());
            while (units < excess) {
                Claim newest = newestOfHeaviest(above, any -> false);
                if (newest == null) {
                    break;
                }
                units += newest.leave();
                gaveWay.add(newest);
            }
        }
        gaveWay.forEach(Claim::runShed);
        return units;
    }

    /**
     * The newest claim that can be shed of the account that uses most, if that uses more than {@code above}.
     */
    private @Nullable Claim newestOfHeaviest(long above, Predicate<K> spared) {
        NavigableSet<Account> order = order();
        Account account = order.isEmpty() ? null : order.last();
        while (account != null) {
            Account next = order.lower(account);
            rank(account);
            if (next != null && Account.ORDER.compare(account, next) < 0) {
                account = next; // it has returned units and now sorts lower
                continue;
            }
            if (account.rank <= above) {
                return null;
            }
            @SuppressWarnings("unchecked") // an account has a key of this quota
            Claim newest = spared.test((K) account.key) ? null : newest(account);
            if (newest != null) {
                return newest;
            }
            account = next;
        }
        return null;
    }

    private NavigableSet<Account> order() {
        NavigableSet<Account> present = byUse;
        if (present == null) {
            present = new TreeSet<>(Account.ORDER);
            byUse = present;
            ordered = true; // set first, so that from now on each thread that takes units sorts its account
            for (Account account : accounts.values()) {
                account.rank = account.staying();
                present.add(account);
            }
        }
        return present;
    }

    /** Sorts an account anew after its use has changed. */
    private void rank(Account account) {
        NavigableSet<Account> order = byUse;
        long uses = account.staying();
        if (order != null && account.rank != uses && order.remove(account)) {
            account.rank = uses;
            order.add(account);
        }
    }

    private void endOrder() {
        if (byUse != null && used.get() <= max / 2) {
            byUse = null;
            ordered = false;
        }
    }

    @SuppressWarnings("unchecked") // an account holds this quota's claims only
    private @Nullable Claim newest(Account account) {
        for (Object claim : account.claims.reversed()) {
            Claim candidate = (Claim) claim;
            if (candidate.leaving < 0 && candidate.shed != null && candidate.held() > 0) {
                return candidate;
            }
        }
        return null;
    }

    /** The units that all accounts may use together. */
    public long max() {
        return max;
    }

    /** The units in use. */
    public long used() {
        return used.get();
    }

    /** The units of claims that were shed and have not been returned yet. */
    public synchronized long leaving() {
        return leaving;
    }

    /** The number of units that the account uses which counts for a key. */
    public synchronized long usedBy(K key) {
        Account account = existing(key);
        return account == null ? 0 : account.used.get();
    }

    /** Whether more units are in use than allowed. */
    public boolean isOver() {
        return used.get() > max;
    }

    /** Accounts with a claim. */
    public synchronized int accounts() {
        return accounts.size();
    }
}
