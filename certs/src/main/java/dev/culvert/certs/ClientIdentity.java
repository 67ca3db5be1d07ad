package dev.culvert.certs;

import java.net.URI;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The identity in a client certificate, encoded as its only URI name, {@code
 * urn:culvert:runtime:<account>:<runtime>:<runtime id>}.
 *
 * @param account the customer's name
 * @param runtime the runtime's name, unique in its account
 * @param runtimeId a random id, created with the runtime, so that a runtime that is deleted and created again
 *     does not accept old certificates; 1 to 64 of {@code A-Z a-z 0-9 _ -}
 */
public record ClientIdentity(String account, String runtime, String runtimeId) {
    private static final String PREFIX = "urn:culvert:runtime:";
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Pattern URN = Pattern.compile(PREFIX + "([^:]+):([^:]+):([^:]+)");

    public ClientIdentity {
        if (!NAME.matcher(account).matches() || !NAME.matcher(runtime).matches()
                || !ID.matcher(runtimeId).matches()) {
            throw new CertsException("identity " + account + "/" + runtime + "/" + runtimeId
                    + " (expected: names of a-z, 0-9 and inner hyphens, id of 1 to 64 letters, digits, _ and -)");
        }
    }

    /**
     * Reads the identity from a certificate. Throws {@link CertsException} unless it contains exactly one.
     */
    public static ClientIdentity from(X509Certificate certificate) {
        List<String> uris = AlternativeNames.of(certificate).uris();
        if (uris.size() != 1) {
            throw new CertsException(
                    "a certificate with " + uris.size() + " URI names (expected: one, " + PREFIX + "…)");
        }
        Matcher parts = URN.matcher(uris.get(0));
        if (!parts.matches()) {
            throw new CertsException(
                    "a certificate whose URI name is not " + PREFIX + "<account>:<runtime>:<id>");
        }
        return new ClientIdentity(parts.group(1), parts.group(2), parts.group(3));
    }

    /** The URN in the certificate. */
    public URI uri() {
        return URI.create(PREFIX + account + ":" + runtime + ":" + runtimeId);
    }
}
