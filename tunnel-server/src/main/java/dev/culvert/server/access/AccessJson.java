package dev.culvert.server.access;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.Pem;
import dev.culvert.http.net.Cidr;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The JSON of access rules in the admin API and the store: records whose components are the JSON's members.
 */
public final class AccessJson {
    private static final JsonMapper JSON = new JsonMapper();

    private AccessJson() {}

    /** The rules as stored, in the form that {@link AccessFields} reads. */
    public static String text(AccessRules rules) {
        try {
            return JSON.writeValueAsString(OwnAccessView.of(rules));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("records of texts always render", e);
        }
    }

    public record AccessView(OwnAccessView own, String withoutRules) {
        public static AccessView of(AccessRules own, AccessDefault withoutRules) {
            return new AccessView(OwnAccessView.of(own), withoutRules.name().toLowerCase(Locale.ROOT));
        }
    }

    /** A runtime's own rules. They may be sent back unchanged. */
    public record OwnAccessView(List<String> addresses, List<RuleView> rules) {
        static OwnAccessView of(AccessRules rules) {
            return new OwnAccessView(texts(rules.addresses()),
                    rules.rules().stream().map(RuleView::of).toList());
        }
    }

    @JsonInclude(JsonInclude.Include.NON_NULL)
    record RuleView(String path, String require, List<String> addresses, @Nullable JwtView jwt,
            @Nullable ForwardAuthView forwardAuth, @Nullable CertificateView clientCertificate) {
        static RuleView of(AccessRule rule) {
            Requirement require = rule.require();
            return new RuleView(rule.path(), require.word(), texts(rule.addresses()),
                    require instanceof Requirement.Jwt jwt ? JwtView.of(jwt) : null,
                    require instanceof Requirement.ForwardAuth service ? ForwardAuthView.of(service) : null,
                    require instanceof Requirement.ClientCertificate shown
                            ? new CertificateView(Pem.text(shown.authorities()), shown.subjects())
                            : null);
        }
    }

    record JwtView(String jwks, String issuer, List<String> audiences, List<String> algorithms,
            String leeway, Map<String, List<String>> claims) {
        static JwtView of(Requirement.Jwt jwt) {
            URI jwks = jwt.jwks();
            return new JwtView(jwks.getScheme().equals("file") ? Path.of(jwks).toString() : jwks.toString(),
                    jwt.issuer(), jwt.audiences(), jwt.algorithms(), jwt.leeway().toMillis() + "ms",
                    new TreeMap<>(jwt.claims()));
        }
    }

    record ForwardAuthView(String url, String timeout, List<String> requestFields,
            List<String> responseFields) {
        static ForwardAuthView of(Requirement.ForwardAuth service) {
            return new ForwardAuthView(service.url().toString(), service.timeout().toMillis() + "ms",
                    service.requestFields(), service.responseFields());
        }
    }

    record CertificateView(String ca, List<String> subjects) {}

    private static List<String> texts(List<Cidr> blocks) {
        return blocks.stream().map(Cidr::toString).toList();
    }
}
