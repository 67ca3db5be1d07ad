package dev.culvert.platform.signing.store;

import dev.culvert.platform.host.spi.Rewrapping;
import dev.culvert.platform.host.spi.Rewrapping.Secret;
import dev.culvert.store.Rows;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The rows of authorities, names and certificates. Every method runs in the caller's transaction and blocks.
 */
public final class SigningTable {
    /** A change deletes a few old rows at once. */
    private static final int AT_ONCE = 100;
    private static final String AUTHORITY = "SELECT account, certificate, secret, crl_number, crl, crl_until"
            + " FROM signing_authority WHERE ";
    private static final String CERTIFICATE = "SELECT account, serial, kind, names, created, ends, revoked"
            + " FROM signing_certificate WHERE ";

    private SigningTable() {}

    /** The secrets of authorities. */
    public static final class Secrets implements Rewrapping.Secrets {
        @Override
        public List<Secret> page(Connection connection, String after, String prefix, int limit)
                throws SQLException {
            return Rows.list(connection,
                    row -> new Secret(row.getString(1), row.getString(1), secretName(row.getString(1)),
                            row.getString(2)),
                    "SELECT account, secret FROM signing_authority WHERE account > ? AND secret NOT LIKE ?"
                            + " ORDER BY account LIMIT " + limit,
                    after, prefix + "%");
        }

        @Override
        public void replace(Connection change, Secret before, String text) throws SQLException {
            Rows.update(change, "UPDATE signing_authority SET secret = ? WHERE account = ? AND secret = ?",
                    text,
                    before.key(), before.text());
        }
    }

    /** The name of an authority's key for {@link dev.culvert.platform.host.spi.SecretWrapping}. */
    public static String secretName(String account) {
        return "signing key " + account;
    }

    public static @Nullable StoredAuthority authority(Connection connection, String account)
            throws SQLException {
        return Rows.first(connection,
                row -> new StoredAuthority(row.getString(1), row.getString(2), row.getString(3),
                        row.getLong(4),
                        row.getString(5), row.getLong(6)),
                AUTHORITY + "account = ?", account);
    }

    public static void add(Connection change, StoredAuthority authority, long now) throws SQLException {
        Rows.update(change,
                "INSERT INTO signing_authority (account, certificate, secret, created, crl_number,"
                        + " crl, crl_until) VALUES (?, ?, ?, ?, ?, ?, ?)",
                authority.account(), authority.certificate(),
                authority.secret(), now, authority.crlNumber(), authority.crl(), authority.crlUntil());
    }

    /** Keeps a list of revoked certificates. */
    public static void keepList(Connection change, String account, long number, String crl, long until)
            throws SQLException {
        Rows.update(change, "UPDATE signing_authority SET crl_number = ?, crl = ?, crl_until = ?"
                + " WHERE account = ?", number, crl, until, account);
    }

    /** The names that an account has set; empty: it has set none. */
    public static List<String> names(Connection connection, String account) throws SQLException {
        return Rows.list(connection, row -> row.getString(1),
                "SELECT name FROM signing_name WHERE account = ? ORDER BY name", account);
    }

    public static void setNames(Connection change, String account, List<String> names) throws SQLException {
        Rows.update(change, "DELETE FROM signing_name WHERE account = ?", account);
        for (String name : names) {
            Rows.update(change, "INSERT INTO signing_name (account, name) VALUES (?, ?)", account, name);
        }
    }

    public static void add(Connection change, StoredCertificate certificate) throws SQLException {
        Rows.update(change, "INSERT INTO signing_certificate (account, serial, kind, names, created, ends)"
                + " VALUES (?, ?, ?, ?, ?, ?)", certificate.account(), certificate.serial(),
                certificate.kind(),
                certificate.names(), certificate.created(), certificate.ends());
    }

    /** Deletes some that have expired. */
    public static void removeExpired(Connection change, String account, long now) throws SQLException {
        Rows.update(change,
                "DELETE FROM signing_certificate WHERE account = ? AND serial IN (SELECT serial FROM"
                        + " signing_certificate WHERE account = ? AND ends <= ? ORDER BY ends LIMIT "
                        + AT_ONCE + ")",
                account, account, now);
    }

    public static long count(Connection connection, String account) throws SQLException {
        return Rows.count(connection, "SELECT count(*) FROM signing_certificate WHERE account = ?", account);
    }

    /** The first certificates after a serial number. */
    public static List<StoredCertificate> page(Connection connection, String account, String after, int limit)
            throws SQLException {
        return Rows.list(connection, SigningTable::certificate,
                CERTIFICATE + "account = ? AND serial > ? ORDER BY serial LIMIT " + limit, account, after);
    }

    /** Revokes a certificate. Returns false if there is none. */
    public static boolean revoke(Connection change, String account, String serial, long now)
            throws SQLException {
        return Rows.update(change, "UPDATE signing_certificate SET revoked = coalesce(revoked, ?)"
                + " WHERE account = ? AND serial = ?", now, account, serial) == 1;
    }

    /** When each revoked certificate that has not expired was revoked. */
    public static Map<BigInteger, Instant> revoked(Connection connection, String account, long now)
            throws SQLException {
        return Rows.list(connection, SigningTable::certificate,
                CERTIFICATE + "account = ? AND revoked IS NOT NULL AND ends > ?", account, now)
                .stream()
                .collect(Collectors.toMap(each -> new BigInteger(each.serial(), 16),
                        each -> Instant.ofEpochMilli(each.revoked() == null ? 0 : each.revoked())));
    }

    private static StoredCertificate certificate(ResultSet row) throws SQLException {
        long revoked = row.getLong(7);
        return new StoredCertificate(row.getString(1), row.getString(2), row.getString(3), row.getString(4),
                row.getLong(5), row.getLong(6), row.wasNull() ? null : Long.valueOf(revoked));
    }
}
