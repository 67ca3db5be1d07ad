package dev.culvert.certs.tls;

import dev.culvert.certs.AlternativeNames;
import dev.culvert.certs.CertsException;
import io.netty.handler.ssl.SslContext;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Selects the certificate for a server name: by exact name, then by a wildcard for one label, else the first
 * certificate.
 *
 * @param exact the contexts by exact name
 * @param wildcards the contexts by the text after the star, including the dot
 * @param otherwise the context for every other name
 * @param notAfter the earliest expiry of the certificates
 */
record CertificateNames(Map<String, SslContext> exact, Map<String, SslContext> wildcards,
        SslContext otherwise, Instant notAfter) {
    /** Builds the selection. For equal names the first certificate wins. */
    static CertificateNames of(List<WatchedPair.InUse> pairs) {
        Map<String, SslContext> exact = new HashMap<>();
        Map<String, SslContext> wildcards = new HashMap<>();
        Instant end = Instant.MAX;
        for (WatchedPair.InUse pair : pairs) {
            X509Certificate leaf = pair.material().leaf();
            for (String name : dnsNames(leaf)) {
                if (name.startsWith("*.")) {
                    wildcards.putIfAbsent(name.substring(1), pair.context());
                } else {
                    exact.putIfAbsent(name, pair.context());
                }
            }
            Instant itsEnd = leaf.getNotAfter().toInstant();
            end = itsEnd.isBefore(end) ? itsEnd : end;
        }
        return new CertificateNames(exact, wildcards, pairs.getFirst().context(), end);
    }

    SslContext choose(String name) {
        SslContext named = exact.get(name);
        if (named != null) {
            return named;
        }
        int dot = name.indexOf('.');
        return dot > 0 ? wildcards.getOrDefault(name.substring(dot), otherwise) : otherwise;
    }

    boolean isExact(String name) {
        return exact.containsKey(name);
    }

    /** Whether a certificate covers this name, exactly or by a wildcard. */
    boolean covers(String name) {
        int dot = name.indexOf('.');
        return isExact(name) || (dot > 0 && wildcards.containsKey(name.substring(dot)));
    }

    private static List<String> dnsNames(X509Certificate leaf) {
        try {
            return AlternativeNames.of(leaf)
                    .dns()
                    .stream()
                    .map(name -> name.toLowerCase(Locale.ROOT))
                    .toList();
        } catch (CertsException e) {
            return List.of(); // used for handshakes without a name or with an unknown one
        }
    }
}
