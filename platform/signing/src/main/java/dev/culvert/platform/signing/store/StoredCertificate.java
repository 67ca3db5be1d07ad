package dev.culvert.platform.signing.store;

import org.jspecify.annotations.Nullable;

/**
 * A certificate that was signed.
 *
 * @param serial its serial number, hexadecimal
 * @param kind {@code server} or {@code client}
 * @param names its names, with commas between them
 * @param created in milliseconds since 1970
 * @param ends when it expires, in milliseconds since 1970
 * @param revoked when it was revoked, in milliseconds since 1970; null: it is not
 */
public record StoredCertificate(String account, String serial, String kind, String names, long created,
        long ends, @Nullable Long revoked) {}
