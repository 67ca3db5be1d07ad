package dev.culvert.platform.triggers.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The keys of what has happened, for 7 days: what is delivered twice starts nothing twice. Every method runs
 * in a change of the account and blocks.
 */
public final class DeliveryTable {
    private static final String TABLE = "triggers_delivery";
    private static final long KEPT_MILLIS = Duration.ofDays(7).toMillis();
    /** Where an account has too many keys, those of the last day are kept still. */
    private static final long SURELY_KEPT_MILLIS = Duration.ofDays(1).toMillis();
    /** The number of an account's keys. */
    public static final int MAX = 100_000;

    private DeliveryTable() {}

    /** Too much has happened in an account within a day. */
    public static final class TooMany extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooMany() {
            super("more than " + MAX + " events of the account within a day", null, false, false);
        }
    }

    /** Adds a key. Returns false if it is there. Throws {@link TooMany}. */
    public static boolean add(Connection change, String account, String event, String delivery, long now)
            throws SQLException {
        long place = Places.next(change, TABLE, account);
        Places.keep(change, TABLE, account, place, "created <= " + (now - KEPT_MILLIS));
        if (place - Places.first(change, TABLE, account) >= MAX) {
            Places.keep(change, TABLE, account, place, "created <= " + (now - SURELY_KEPT_MILLIS));
            if (place - Places.first(change, TABLE, account) >= MAX) {
                throw new TooMany();
            }
        }
        return Rows.update(change, "INSERT INTO " + TABLE + " (account, event, delivery, place, created)"
                + " VALUES (?, ?, ?, ?, ?) ON CONFLICT (account, event, delivery) DO NOTHING",
                account, event, delivery, place, now) == 1;
    }
}
