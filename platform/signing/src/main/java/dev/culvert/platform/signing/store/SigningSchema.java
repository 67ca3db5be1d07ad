package dev.culvert.platform.signing.store;

import dev.culvert.platform.host.spi.TableVersions;
import java.util.List;

/** The module's tables, by version. A released version is never edited. */
public final class SigningSchema {
    /** The statements of each version, for each engine. */
    public static final TableVersions VERSIONS = new TableVersions(
            List.of(tables("TEXT", "INTEGER", " STRICT")),
            List.of(tables("TEXT COLLATE \"C\"", "BIGINT", "")));

    private SigningSchema() {}

    /**
     * @param text the type of texts
     * @param number the type of numbers
     * @param end what a table ends with
     */
    private static List<String> tables(String text, String number, String end) {
        return List.of("""
                CREATE TABLE signing_authority (
                  account %1$s PRIMARY KEY, certificate %1$s NOT NULL, secret %1$s NOT NULL,
                  created %2$s NOT NULL, crl_number %2$s NOT NULL, crl %1$s, crl_until %2$s NOT NULL)%3$s""",
                """
                        CREATE TABLE signing_name (
                          account %1$s NOT NULL, name %1$s NOT NULL, PRIMARY KEY (account, name))%3$s""",
                """
                        CREATE TABLE signing_certificate (
                          account %1$s NOT NULL, serial %1$s NOT NULL, kind %1$s NOT NULL, names %1$s NOT NULL,
                          created %2$s NOT NULL, ends %2$s NOT NULL, revoked %2$s, PRIMARY KEY (account, serial))%3$s""",
                "CREATE INDEX signing_certificate_ends ON signing_certificate (account, ends)",
                "CREATE INDEX signing_certificate_revoked ON signing_certificate (account, revoked)")
                .stream()
                .map(table -> table.formatted(text, number, end))
                .toList();
    }
}
