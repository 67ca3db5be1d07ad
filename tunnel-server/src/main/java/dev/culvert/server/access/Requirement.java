package dev.culvert.server.access;

import java.net.URI;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The requirement of an access rule. */
public sealed interface Requirement {
    /** Its name in JSON. */
    default String word() {
        return switch (this) {
            case None none -> "none";
            case Deny deny -> "deny";
            case Jwt jwt -> "jwt";
            case ForwardAuth service -> "forwardAuth";
            case ClientCertificate certificate -> "clientCertificate";
        };
    }

    /** No requirement: all callers are admitted. */
    record None() implements Requirement {}

    /** All callers are refused. */
    record Deny() implements Requirement {}

    /**
     * A bearer token (RFC 6750) that is a signed JWT (RFC 7519).
     *
     * @param jwks the location of the issuer's keys (RFC 7517): an https URL, http on this machine, or a file
     * @param issuer the only accepted {@code iss}
     * @param audiences the accepted audiences; {@code aud} must name one
     * @param algorithms the accepted signature algorithms, all asymmetric
     * @param leeway the tolerated difference of clocks
     * @param claims the required claims; each must have one of the listed values
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
     * The decision of a service that is asked about each request.
     *
     * @param url the service
     * @param timeout the limit for its answer; after it the request is refused
     * @param requestFields the request fields passed to the service; lower case
     * @param responseFields the fields of its answer that replace the caller's in the request to the runtime;
     *        lower case
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
     * A client certificate in the TLS handshake with the edge.
     *
     * @param authorities the authorities that may have issued it, directly or through intermediates
     * @param subjects the accepted subjects in the form of RFC 2253; empty: any
     */
    record ClientCertificate(List<X509Certificate> authorities,
            List<String> subjects) implements Requirement {
        public ClientCertificate {
            authorities = List.copyOf(authorities);
            subjects = List.copyOf(subjects);
        }
    }
}
