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
import org.jspecify.annotations.Nullable;

/**
 * One scarce thing, in units of bytes or of places, shared fairly by the accounts that use it: whoever uses least is served
 * first. While there is room an account may use all of it. When there is none, the heaviest account gives way, with the
 * newest of its claims; an account that is the heaviest itself is refused. So one account can never keep another from its
 * equal share, and an account alone is not limited.
 *
 * <p>Safe for use by any thread. Opening, closing and {@link Claim#tryTake} take a lock for a moment; {@link Claim#give} does
 * not, and {@link Claim#take} only while the accounts are kept in order. They are from the first time that there is no room
 * until half of it is free, so that finding the heaviest costs the same however many accounts there are. Accounts exist while
 * they have claims, so that claims are their bound.
 *
 * @param <K> what tells accounts apart: a {@link SourceAddress}, the id of a runtime
 */
public final class Quota<K> {
    private volatile long max;
    private final AtomicLong used = new AtomicLong();
    private final Map<K, Account> accounts = new HashMap<>();
    /** The accounts, the heaviest last; null while there is room. Guarded by this. */
    private @Nullable NavigableSet<Account> byUse;
    /** Whether there is an order to keep. */
    private volatile boolean ordered;
    /** Of all accounts. Guarded by this. */
    private long leaving;
    private long accountsMade;

    private static final class Account {
        static final Comparator<Account> ORDER = Comparator.<Account>comparingLong(each -> each.rank)
                .thenComparingLong(each -> each.number);

        final long number;
        final AtomicLong used = new AtomicLong();
        /** In the order in which they were opened. */
        final LinkedHashSet<Object> claims = new LinkedHashSet<>();
        /** Units of claims that give way and are not given back yet. Guarded by the quota's lock. */
        long leaving;
        /** What it used when it was put in order; it may use less meanwhile. Guarded by the quota's lock. */
        long rank;

        Account(long number) {
            this.number = number;
        }

        long staying() {
            return used.get() - leaving;
        }
    }

    /** What one piece of work uses. Its owner closes it when the work is over. */
    public final class Claim implements AutoCloseable {
        private final K key;
        private final Account account;
        private final @Nullable Runnable shed;
        private final AtomicLong held = new AtomicLong();
        /** The units held when this claim had to give way; -1 before. Guarded by the quota's lock. */
        private long leaving = -1;
        private volatile boolean closed;

        private Claim(K key, Account account, @Nullable Runnable shed) {
            this.key = key;
            this.account = account;
            this.shed = shed;
        }

        /** Counts units that are here whether there is room or not: {@link Quota#isOver} tells afterwards. Nothing after close. */
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
         * Counts units if there is room, or if a heavier account gives way. Returns false, and counts nothing, if this account
         * would be the heaviest itself.
         */
        public boolean tryTake(long units) {
            List<Claim> gaveWay = new ArrayList<>(0);
            boolean taken = take(units, gaveWay);
            gaveWay.forEach(Claim::giveWay);
            return taken;
        }

        private boolean take(long units, List<Claim> gaveWay) {
            synchronized (Quota.this) {
                if (closed) {
                    return false;
                }
                while (used.get() + units > max) {
                    Claim newest = newestOfHeaviest(account.staying() + units);
                    if (newest == null) {
                        return false;
                    }
                    newest.remove();
                    gaveWay.add(newest);
                }
                count(units);
                rank(account);
                return true;
            }
        }

        /** Units are free again; never more than are held. */
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

        /** Gives everything back. Harmless when it was closed, or gave way, before. */
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
                    accounts.remove(key, account);
                    if (byUse != null) {
                        byUse.remove(account);
                    }
                }
                rank(account);
                endOrder();
            }
        }

        /** It is on its way out; returns the units that come back with it. */
        private long leave() {
            leaving = held();
            account.leaving += leaving;
            Quota.this.leaving += leaving;
            rank(account);
            return leaving;
        }

        private void giveWay() {
            if (shed != null) {
                shed.run();
            }
        }
    }

    /** @param max the units that all accounts may use together */
    public Quota(long max) {
        this.max = positive(max);
    }

    private static long positive(long max) {
        if (max < 1) {
            throw new IllegalArgumentException("max: " + max + " (expected: at least 1)");
        }
        return max;
    }

    /** From now on all accounts may use this much together. What is in use stays until somebody else needs it. */
    public void resize(long newMax) {
        max = positive(newMax);
    }

    /**
     * Begins a piece of work, which holds nothing yet.
     *
     * @param shed runs once, on the thread that needs the room, when the work has to give way: it ends the work on the work's
     *     own thread. Null: this work never gives way
     */
    public synchronized Claim open(K key, @Nullable Runnable shed) {
        Account account = accounts.computeIfAbsent(key, any -> newAccount());
        Claim claim = new Claim(key, account, shed);
        account.claims.add(claim);
        return claim;
    }

    private Account newAccount() {
        Account account = new Account(accountsMade++);
        if (byUse != null) {
            byUse.add(account);
        }
        return account;
    }

    /** Begins a piece of work that takes units at once; null when {@link Claim#tryTake} refuses. */
    public @Nullable Claim tryOpen(K key, long units, @Nullable Runnable shed) {
        Claim claim = open(key, shed);
        if (claim.tryTake(units)) {
            return claim;
        }
        claim.close();
        return null;
    }

    /**
     * Lets the newest claims of the heaviest accounts give way until {@code excess} units are on their way out; their owners
     * give the units back when the work has ended. Returns how many that will be.
     */
    public long shedHeaviest(long excess) {
        List<Claim> gaveWay = new ArrayList<>();
        long units = 0;
        synchronized (this) {
            while (units < excess) {
                Claim newest = newestOfHeaviest(0);
                if (newest == null) {
                    break;
                }
                units += newest.leave();
                gaveWay.add(newest);
            }
        }
        gaveWay.forEach(Claim::giveWay);
        return units;
    }

    /**
     * As {@link #shedHeaviest}, for an account that has no room: only accounts that use more than it give way, and what is on
     * its way out already counts.
     */
    public long shedHeavierThan(K key, long excess) {
        List<Claim> gaveWay = new ArrayList<>();
        long units;
        synchronized (this) {
            units = leaving;
            Account own = accounts.get(key);
            long above = own == null ? 0 : own.staying();
            while (units < excess) {
                Claim newest = newestOfHeaviest(above);
                if (newest == null) {
                    break;
                }
                units += newest.leave();
                gaveWay.add(newest);
            }
        }
        gaveWay.forEach(Claim::giveWay);
        return units;
    }

    /** The newest claim that can give way, of the account that uses most, if that is more than {@code above}. */
    private @Nullable Claim newestOfHeaviest(long above) {
        NavigableSet<Account> order = order();
        Account account = order.isEmpty() ? null : order.last();
        while (account != null) {
            Account next = order.lower(account);
            rank(account);
            if (next != null && Account.ORDER.compare(account, next) < 0) {
                account = next; // it has given units back, and its turn comes later
                continue;
            }
            if (account.rank <= above) {
                return null;
            }
            Claim newest = newest(account);
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
            ordered = true; // first: who takes units from now on puts its account in order
            for (Account account : accounts.values()) {
                account.rank = account.staying();
                present.add(account);
            }
        }
        return present;
    }

    /** Puts an account that uses more, or less, where it belongs. */
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

    /** The units that an account uses. */
    public synchronized long usedBy(K key) {
        Account account = accounts.get(key);
        return account == null ? 0 : account.used.get();
    }

    /** Whether more is in use than may be. */
    public boolean isOver() {
        return used.get() > max;
    }

    /** Accounts with a claim. */
    public synchronized int accounts() {
        return accounts.size();
    }
}
