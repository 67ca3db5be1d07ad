package dev.culvert.server.access;

import dev.culvert.certs.CertsException;
import dev.culvert.certs.Pem;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.net.Cidr;
import dev.culvert.server.access.Requirement.ClientCertificate;
import dev.culvert.server.access.Requirement.ForwardAuth;
import dev.culvert.server.access.Requirement.Jwt;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Parses the access rules of a request's JSON object. An error is answered 400 with the key, the value and
 * the accepted values.
 */
public final class AccessFields {
    private static final Set<String> ALL = Set.of("addresses", "rules");
    private static final List<String> KINDS = List.of("jwt", "forwardAuth", "clientCertificate");
    private static final Set<String> RULE = Set.of("path", "require", "addresses", "jwt", "forwardAuth",
            "clientCertificate");
    private static final Set<String> JWT = Set.of("jwks", "issuer", "audiences", "algorithms", "leeway",
            "claims");
    private static final Set<String> FORWARD_AUTH = Set.of("url", "timeout", "requestFields",
            "responseFields");
    private static final Set<String> CERTIFICATE = Set.of("ca", "subjects");
    private static final int MAX_VALUES = 32;

    private AccessFields() {}

    /** Reads new rules. Throws HandlerException with {@code BAD_REQUEST}. */
    public static AccessRules given(byte[] body) {
        AccessRules rules = read(body);
        int index = firstUnsecured(rules);
        if (index >= 0 && rules.rules().get(index).require() instanceof ForwardAuth service) {
            throw AccessValues.invalid("rules[" + index + "].forwardAuth.url", service.url().toString(),
                    "an https URL, or an http URL of this machine");
        }
        return rules;
    }

    /** The index of the first rule whose service is called over a network without TLS; -1: none. */
    public static int firstUnsecured(AccessRules rules) {
        for (int i = 0; i < rules.rules().size(); i++) {
            if (rules.rules().get(i).require() instanceof ForwardAuth service
                    && !AccessValues.isSecured(service.url())) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Reads rules, including those that an earlier version accepted. Throws HandlerException with {@code
     * BAD_REQUEST}.
     */
    public static AccessRules read(byte[] body) {
        return JsonFields.read(body, ALL, fields -> new AccessRules(addresses(fields),
                fields.objects("rules", RULE).stream().map(AccessFields::rule).toList()));
    }

    private static AccessRule rule(JsonFields fields) {
        String path = fields.text("path");
        Requirement require = requirement(fields);
        List<Cidr> addresses = addresses(fields);
        try {
            return new AccessRule(path, require, addresses);
        } catch (IllegalArgumentException e) {
            throw AccessValues.invalid(fields.key("path"), path, String.valueOf(e.getMessage()));
        }
    }

    private static List<Cidr> addresses(JsonFields fields) {
        List<Cidr> blocks = new ArrayList<>();
        for (String text : fields.texts("addresses")) {
            try {
                blocks.add(Cidr.parse(text));
            } catch (IllegalArgumentException e) {
                throw AccessValues.invalid(fields.key("addresses"), text,
                        "addresses or CIDR blocks, as 10.0.0.0/8 or fd00::/8");
            }
        }
        return blocks;
    }

    private static Requirement requirement(JsonFields fields) {
        String kind = fields.text("require");
        for (String other : KINDS) {
            if (!other.equals(kind) && fields.has(other)) {
                throw HandlerException.of(Reason.BAD_REQUEST,
                        fields.key(other) + ": given (expected: only where require is " + other + ")");
            }
        }
        return switch (kind) {
            case "none" -> new Requirement.None();
            case "deny" -> new Requirement.Deny();
            case "jwt" -> jwt(fields.object("jwt", JWT));
            case "forwardAuth" -> forwardAuth(fields.object("forwardAuth", FORWARD_AUTH));
            case "clientCertificate" -> certificate(fields.object("clientCertificate", CERTIFICATE));
            default -> throw AccessValues.invalid(fields.key("require"), kind,
                    "one of none, deny, jwt, forwardAuth, clientCertificate");
        };
    }

    private static Jwt jwt(JsonFields fields) {
        List<String> algorithms = fields.has("algorithms")
                ? fields.requiredTexts("algorithms")
                : Jwt.USUAL_ALGORITHMS;
        for (String algorithm : algorithms) {
            if (!Jwt.ALGORITHMS.contains(algorithm)) {
                throw AccessValues.invalid(fields.key("algorithms"), algorithm,
                        "of " + String.join(", ", Jwt.ALGORITHMS));
            }
        }
        Map<String, List<String>> claims = fields.textsByName("claims");
        claims.forEach((name, values) -> AccessValues.some(fields.key("claims." + name), values, MAX_VALUES));
        if (claims.size() > MAX_VALUES) {
            throw AccessValues.invalid(fields.key("claims"), claims.size() + " of them",
                    "at most " + MAX_VALUES);
        }
        return new Jwt(AccessValues.jwks(fields.key("jwks"), fields.text("jwks")),
                AccessValues.text(fields.key("issuer"), fields.text("issuer")),
                AccessValues.some(fields.key("audiences"), fields.requiredTexts("audiences"), MAX_VALUES),
                AccessValues.some(fields.key("algorithms"), algorithms, MAX_VALUES),
                AccessValues.duration(fields, "leeway", Jwt.USUAL_LEEWAY, Duration.ZERO, Jwt.MAX_LEEWAY),
                claims);
    }

    private static ForwardAuth forwardAuth(JsonFields fields) {
        List<String> shown = fields.has("requestFields")
                ? fields.requiredTexts("requestFields")
                : ForwardAuth.USUAL_REQUEST_FIELDS;
        return new ForwardAuth(AccessValues.url(fields.key("url"), fields.text("url")),
                AccessValues.duration(fields, "timeout", ForwardAuth.USUAL_TIMEOUT, Duration.ofMillis(10),
                        ForwardAuth.MAX_TIMEOUT),
                AccessValues.fieldNames(fields.key("requestFields"), shown, MAX_VALUES),
                AccessValues.fieldNames(fields.key("responseFields"), fields.texts("responseFields"),
                        MAX_VALUES));
    }

    private static ClientCertificate certificate(JsonFields fields) {
        List<X509Certificate> authorities;
        try {
            authorities = Pem.certificates(fields.text("ca"));
        } catch (CertsException e) {
            throw HandlerException.of(Reason.BAD_REQUEST, fields.key("ca") + ": " + e.getMessage()
                    + " (expected: the certificates of authorities, as PEM)");
        }
        if (authorities.size() > MAX_VALUES) {
            throw AccessValues.invalid(fields.key("ca"), authorities.size() + " certificates",
                    "at most " + MAX_VALUES);
        }
        List<String> subjects = fields.texts("subjects");
        return new ClientCertificate(authorities, subjects.isEmpty()
                ? subjects
                : new ArrayList<>(new TreeSet<>(
                        AccessValues.some(fields.key("subjects"), subjects, AccessRules.MAX_ADDRESSES))));
    }
}
