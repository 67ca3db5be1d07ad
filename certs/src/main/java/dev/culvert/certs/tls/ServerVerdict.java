package dev.culvert.certs.tls;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The certificates of a server in a diagnosis, and the rules that trust it.
 *
 * @param chain the server's own certificate first
 * @param refusals why each rule that does not trust the server does not, by the rule's name; rules that trust
 *     it are absent
 */
public record ServerVerdict(List<X509Certificate> chain, Map<String, Refusal> refusals) {

    /** Why a rule does not trust the server. */
    public record Refusal(UntrustedServerException.Reason reason, String text) {}

    /** Evaluates each rule. */
    static ServerVerdict of(ObservingTrustManager.Shown shown, Map<String, ServerTrustManager> rules) {
        var refusals = new HashMap<String, Refusal>();
        rules.forEach((name, rule) -> {
            Refusal refusal = refusal(shown, rule);
            if (refusal != null) {
                refusals.put(name, refusal);
            }
        });
        return new ServerVerdict(shown.chain(), Map.copyOf(refusals));
    }

    private static @Nullable Refusal refusal(ObservingTrustManager.Shown shown,
            ServerTrustManager rule) {
        try {
            rule.checkServerTrusted(shown.chain().toArray(new X509Certificate[0]), shown.authType(),
                    shown.engine());
            return null;
        } catch (CertificateException e) {
            return new Refusal(e instanceof UntrustedServerException untrusted
                    ? untrusted.reason()
                    : UntrustedServerException.Reason.OTHER, String.valueOf(e.getMessage()));
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
