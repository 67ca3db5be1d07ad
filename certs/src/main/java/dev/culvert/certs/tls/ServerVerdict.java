package dev.culvert.certs.tls;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The certificates of a server in a diagnosis, and the rules that trust it.
 *
 * @param chain the server's own certificate first
 * @param refusals the reason of each rule that does not trust the server, by the rule's name; rules that
 *     trust it are absent
 */
public record ServerVerdict(List<X509Certificate> chain, Map<String, String> refusals) {

    /** Evaluates each rule. */
    static ServerVerdict of(ObservingTrustManager.Shown shown, Map<String, ServerTrustManager> rules) {
        var refusals = rules.keySet()
                .stream()
                .filter(name -> refusal(shown, rules.get(name)) != null)
                .collect(Collectors.toUnmodifiableMap(name -> name,
                        name -> String.valueOf(refusal(shown, rules.get(name)))));
        return new ServerVerdict(shown.chain(), refusals);
    }

    private static @Nullable String refusal(ObservingTrustManager.Shown shown,
            @Nullable ServerTrustManager rule) {
        if (rule == null) {
            return null;
        }
        try {
            rule.checkServerTrusted(shown.chain().toArray(new X509Certificate[0]), shown.authType(),
                    shown.engine());
            return null;
        } catch (CertificateException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Whether the rule of this name trusts the server. */
    public boolean isTrustedBy(String rule) {
        return !refusals.containsKey(rule);
    }

    /** The issuer's name in the server's certificate. */
    public String issuer() {
        return chain.getFirst().getIssuerX500Principal().getName();
    }
}
