package dev.culvert.server.access;

import java.net.URI;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What a caller must show. */
public sealed interface Requirement {
    /** What it is called in JSON. */
    default String word() {
        return switch (this) {
            case None none -> "none";
            case Deny deny -> "deny";
            case Jwt jwt -> "jwt";
            case ForwardAuth service -> "forwardAuth";
            case ClientCertificate certificate -> "clientCertificate";
        };
    }

    /** Nothing: everybody may pass. */
    record None() implements Requirement {}

    /** Nobody may pass. */
    record Deny() implements Requirement {}

    /**
     * A bearer token (RFC 6750) that is a signed JWT (RFC 7519).
     *
     * @param jwks where the issuer's keys are (RFC 7517): an https URL, http on this machine, or a file
     * @param issuer the only {@code iss}
     * @param audiences of which {@code aud} must name one
     * @param algorithms that signatures may have: asymmetric ones
     * @param leeway how far clocks may differ
     * @param claims each must be there, and be, or have among its values, one of those listed
     */
    record Jwt(URI jwks, String issuer, List<String> audiences, List<String> algorithms, Duration leeway,
            Map<String, List<String>> claims) implements Requirement {
        public static final List<String> ALGORITHMS = List.of("RS256", "RS384", "RS512", "PS256", "PS384",
                "PS512", "ES256", "ES384", "ES512", "EdDSA");
        public static final List<String> USUAL_ALGORITHMS = List.of("RS256", "ES256", "EdDSA");
        public static final Duration USUAL_LEEWAY = Duration.ofSeconds(30);
        public static final Duration MAX_LEEWAY = Duration.ofMinutes(5);

        public Jwt {
            audiences = List.copyOf(audiences);
            algorithms = List.copyOf(algorithms);
            claims = Map.copyOf(claims);
        }
    }

    /**
     * What a service says, which is asked about each request.
     *
     * @param url the service
     * @param timeout of its answer; then nobody passes
     * @param requestFields of the caller, which it is shown; lower case
     * @param responseFields of its answer, which the runtime is shown in place of the caller's; lower case
     */
    record ForwardAuth(URI url, Duration timeout, List<String> requestFields, List<String> responseFields)
            implements
                Requirement {
        public static final Duration USUAL_TIMEOUT = Duration.ofSeconds(5);
        public static final Duration MAX_TIMEOUT = Duration.ofSeconds(10);
        public static final List<String> USUAL_REQUEST_FIELDS = List.of("authorization", "cookie");

        public ForwardAuth {
            requestFields = List.copyOf(requestFields);
            responseFields = List.copyOf(responseFields);
        }
    }

    /**
     * A certificate, shown in the TLS handshake with the edge.
     *
     * @param authorities that may have issued it, directly or by others
     * @param subjects of which it must have one, as RFC 2253 writes them; empty: any
     */
    record ClientCertificate(List<X509Certificate> authorities,
            List<String> subjects) implements Requirement {
        public ClientCertificate {
            authorities = List.copyOf(authorities);
            subjects = List.copyOf(subjects);
        }
    }
}
