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
 * Which certificate goes with which server name: exact names, then wildcards for one label, then the first certificate.
 *
 * @param exact by name
 * @param wildcards by what follows the star, with its dot
 * @param otherwise for every other name
 * @param notAfter when the first of them ends
 */
record CertificateNames(Map<String, SslContext> exact, Map<String, SslContext> wildcards,
        SslContext otherwise, Instant notAfter) {
    /** Of equal names the first counts. */
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

    /** Whether a certificate is for this name, one of a wildcard too. */
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
            return List.of(); // served to those who ask for no name, or for one that nobody has
        }
    }
}
