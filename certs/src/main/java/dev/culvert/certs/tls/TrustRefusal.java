package dev.culvert.certs.tls;

import dev.culvert.certs.tls.UntrustedServerException.Reason;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.CertificateParsingException;
import java.security.cert.PKIXReason;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Why Java's path validation or host name check refused a certificate.
 *
 * @param text the reason and what was expected
 */
record TrustRefusal(Reason reason, String text) {
    /** Also of an authority that has the name of a trusted one, and another key. */
    private static final Set<CertPathValidatorException.Reason> STRANGERS = Set
            .of(PKIXReason.NO_TRUST_ANCHOR, CertPathValidatorException.BasicReason.INVALID_SIGNATURE);
    /** The text of a refusal without Java's rules. */
    static final String NO_PIN = "its chain does not hold the pinned authority";
    /** GeneralName's tags of DNS names and addresses (RFC 5280 §4.2.1.6). */
    private static final List<Integer> HOST_TAGS = List.of(2, 7);
    private static final int MAX_NAMES = 5;
    /** Of the key, or extended. */
    private static final Pattern KEY_USAGE = Pattern.compile("(?i)key ?usage");

    /**
     * The reason.
     *
     * @param leaf the certificate
     * @param host the host that it must be for
     * @param now the time of this machine
     */
    static TrustRefusal of(CertificateException refusal, X509Certificate leaf, String host, Instant now) {
        Instant end = leaf.getNotAfter().toInstant();
        Instant begin = leaf.getNotBefore().toInstant();
        if (now.isAfter(end)) {
            return new TrustRefusal(Reason.ENDED,
                    "it ended at " + end + ", and this machine's clock says " + seconds(now));
        }
        if (now.isBefore(begin)) {
            return new TrustRefusal(Reason.EARLY,
                    "it begins at " + begin + ", and this machine's clock says " + seconds(now));
        }
        for (Throwable cause = refusal; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case CertPathBuilderException path -> {
                    return new TrustRefusal(Reason.AUTHORITY,
                            "no authority that is trusted here has signed it");
                }
                case CertPathValidatorException path when STRANGERS.contains(path.getReason()) -> {
                    return new TrustRefusal(Reason.AUTHORITY,
                            "no authority that is trusted here has signed it");
                }
                case CertificateExpiredException ended -> {
                    return new TrustRefusal(Reason.ENDED, "an authority in its chain has ended");
                }
                case CertificateNotYetValidException early -> {
                    return new TrustRefusal(Reason.EARLY, "an authority in its chain is not valid yet");
                }
                default -> {
                    // The cause below says more.
                }
            }
        }
        String text = String.valueOf(refusal.getMessage());
        return text.startsWith("No subject alternative") || text.startsWith("No name matching")
                ? new TrustRefusal(Reason.HOST, "it is not for " + host + " but for " + names(leaf)
                        + " (expected: an address with a name that it is for)")
                : other(text);
    }

    /** Java's texts are for its developers. */
    private static TrustRefusal other(String text) {
        if (text.equals(NO_PIN)) {
            return new TrustRefusal(Reason.AUTHORITY, NO_PIN);
        } else if (KEY_USAGE.matcher(text).find()) {
            return new TrustRefusal(Reason.OTHER, "it is not made for a server, as its key usage says");
        }
        return new TrustRefusal(Reason.OTHER,
                text.contains("lgorithm")
                        ? "it, or an authority in its chain, uses an algorithm that is too weak"
                        : "its chain of certificates does not hold");
    }

    private static Instant seconds(Instant now) {
        return now.truncatedTo(ChronoUnit.SECONDS);
    }

    private static String names(X509Certificate leaf) {
        try {
            Collection<List<?>> all = leaf.getSubjectAlternativeNames();
            List<String> names = all == null
                    ? List.of()
                    : all.stream()
                            .filter(name -> HOST_TAGS.contains(name.getFirst()))
                            .map(name -> String.valueOf(name.get(1)).replaceAll("\\p{C}", "?"))
                            .toList();
            return names.isEmpty()
                    ? "no host"
                    : names.stream().limit(MAX_NAMES).collect(Collectors.joining(", "))
                            + (names.size() > MAX_NAMES ? ", …" : "");
        } catch (CertificateParsingException e) {
            return "names that can't be read";
        }
    }
}
