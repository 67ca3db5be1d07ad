package dev.culvert.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.nimbusds.jose.jwk.ECKey;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.http.net.Cidr;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.FrameCaller;
import dev.culvert.relay.testing.TlsCaller;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may call: tokens, certificates, addresses and paths, over real sockets. */
class AccessIT {
    private static final ECKey KEY = Issuer.ec("k1");
    private static final CertificateAuthority CA = CertificateAuthority.create("Callers", Clock.systemUTC());

    @TempDir
    Path folder;
    private final EdgeFixture edge = new EdgeFixture(CallerLimits.defaults(), true);
    private final AccessControl access = new AccessControl(AccessDefault.DENY, List.of(), edge.loops,
            Clock.systemUTC());

    @AfterEach
    void close() {
        await().untilAsserted(() -> assertThat(edge.listener.connections()).isZero());
        access.close().block();
        edge.close();
    }

    private void rules(AccessRule... rules) {
        edge.admission = access.of("id-1", new AccessRules(List.of(), List.of(rules)));
    }

    private static AccessRule rule(String path, Requirement require, String... from) {
        return new AccessRule(path, require, Arrays.stream(from).map(Cidr::parse).toList());
    }

    private Requirement jwt() throws Exception {
        Path jwks = Files.write(folder.resolve("jwks.json"), Issuer.jwks(KEY.toPublicJWK()));
        return new Requirement.Jwt(jwks.toUri(), Issuer.NAME, List.of(Issuer.AUDIENCE), List.of("ES256"),
                Duration.ofSeconds(30), Map.of());
    }

    private String ask(String path, String... fields) {
        try (TlsCaller caller = edge.caller()) {
            return ask(caller, path, fields);
        }
    }

    /** The head of the answer; what is forwarded is answered 204. */
    private String ask(TlsCaller caller, String path, String... fields) {
        edge.relay.answer(exchange -> exchange.head("204", true));
        return caller.head("GET " + path, fields).readHead();
    }

    private FakeRelay.Exchange forwarded() throws InterruptedException {
        return edge.relay.next();
    }

    @Test
    void withoutATokenNothingIsForwarded() throws Exception {
        rules(rule("/", jwt()));

        assertThat(ask("/x")).startsWith("HTTP/1.1 401 ")
                .contains("WWW-Authenticate: Bearer realm=\"culvert\"\r\n");
        assertThat(ask("/x", "Authorization: Basic YTpi")).startsWith("HTTP/1.1 401 ");
        assertThat(ask("/x", "Authorization: Bearer x.y.z")).startsWith("HTTP/1.1 401 ")
                .contains("error=\"invalid_token\"");
        assertThat(ask("/x", "Authorization: Bearer " + Issuer.token(Issuer.ec("k1"), Instant.now())))
                .startsWith("HTTP/1.1 401 ")
                .contains("signature is not valid");
        assertThat(ask("/x", "Authorization: Bearer " + Issuer.token(Issuer.ec("k2"), Instant.now())))
                .startsWith("HTTP/1.1 401 ")
                .contains("key is not known");
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void withATokenTheRequestGoesOnAndTheSubjectCannotBeSpoofed() throws Exception {
        rules(rule("/", jwt()), rule("/open/", new Requirement.None()));
        String token = "Authorization: Bearer " + Issuer.token(KEY, Instant.now());

        for (int i = 0; i < 2; i++) { // the second time it is remembered
            assertThat(ask("/x", token, "Culvert-Caller-Subject: root", "Culvert_Caller_Subject: root"))
                    .startsWith("HTTP/1.1 204 ");
            Http2Headers fields = forwarded().request.fields();
            assertThat(fields.getAll("culvert-caller-subject")).singleElement().hasToString("ann");
            assertThat(fields.contains("culvert_caller_subject")).isFalse();
        }
        assertThat(ask("/open/x", "Culvert-Caller-Subject: root")).startsWith("HTTP/1.1 204 ");
        assertThat(forwarded().request.fields().contains("culvert-caller-subject")).isFalse();
    }

    @Test
    void tokensCountInHttp2() throws Exception {
        rules(rule("/", jwt()));
        edge.relay.answer(exchange -> exchange.head("204", true));
        try (FrameCaller caller = edge.http2()) {
            caller.get(1, "/x");
            caller.head(3, true, FrameCaller.request("GET", "/x", "authorization",
                    "Bearer " + Issuer.token(KEY, Instant.now())));

            assertThat(caller.head(1).status()).hasToString("401");
            assertThat(caller.head(3).status()).hasToString("204");
        }
    }

    @Test
    void issuersThatCantBeReachedLetNobodyPass() {
        rules(rule("/", new Requirement.Jwt(URI.create("http://127.0.0.1:1/jwks"), Issuer.NAME,
                List.of(Issuer.AUDIENCE), List.of("ES256"), Duration.ZERO, Map.of())));

        assertThat(ask("/x", "Authorization: Bearer " + Issuer.token(KEY, Instant.now())))
                .startsWith("HTTP/1.1 503 ")
                .contains("Retry-After: 10\r\n");
    }

    @Test
    void certificatesOfTheRightAuthorityPass() throws Exception {
        rules(rule("/", new Requirement.ClientCertificate(List.of(CA.certificate()), List.of())),
                rule("/mine/",
                        new Requirement.ClientCertificate(List.of(CA.certificate()), List.of("CN=other"))));
        TlsMaterial known = client(CA);

        try (TlsCaller caller = edge.caller(known)) {
            assertThat(ask(caller, "/x", "Culvert-Caller-Certificate: 00")).startsWith("HTTP/1.1 204 ");
            Http2Headers fields = forwarded().request.fields();
            assertThat(fields.get("culvert-caller-subject")).hasToString("CN=acme-ann");
            assertThat(fields.getAll("culvert-caller-certificate")).singleElement()
                    .asString()
                    .matches("[0-9a-f]{64}");
            assertThat(ask(caller, "/mine/x")).startsWith("HTTP/1.1 403 ");
        }
        try (TlsCaller caller = edge
                .caller(client(CertificateAuthority.create("Callers", Clock.systemUTC())))) {
            assertThat(ask(caller, "/x")).startsWith("HTTP/1.1 403 ");
        }
        assertThat(ask("/x")).startsWith("HTTP/1.1 403 ");
    }

    private static TlsMaterial client(CertificateAuthority ca) {
        KeyPair keys = KeyPairs.generate();
        var certificate = ca.issueClient(CertificateRequest.create(keys),
                new ClientIdentity("acme", "ann", "id-1"), Duration.ofHours(1));
        return new TlsMaterial(List.of(certificate), keys.getPrivate());
    }

    @Test
    void aConnectionThatWasNotAskedForACertificateIsMisdirected() {
        try (EdgeFixture quiet = new EdgeFixture()) {
            quiet.admission = access.of("id-2", new AccessRules(List.of(), List.of(
                    rule("/", new Requirement.ClientCertificate(List.of(CA.certificate()), List.of())))));
            try (TlsCaller caller = quiet.caller()) {
                assertThat(caller.get("/x").readHead()).startsWith("HTTP/1.1 421 ");
            }
        }
    }

    @Test
    void addressesAreThoseOfTheConnectionWhateverACallerSays() {
        rules(rule("/here/", new Requirement.None(), "127.0.0.0/8"),
                rule("/there/", new Requirement.None(), "10.0.0.0/8"));

        assertThat(ask("/here/x")).startsWith("HTTP/1.1 204 ");
        assertThat(ask("/there/x", "X-Forwarded-For: 10.0.0.1", "Forwarded: for=10.0.0.1"))
                .startsWith("HTTP/1.1 403 ");
        assertThat(edge.relay.all).hasSize(1);
    }

    @Test
    void noSpellingOfAPathGetsAroundItsRule() {
        rules(rule("/", new Requirement.None()), rule("/admin/", new Requirement.Deny()));

        for (String target : List.of("/admin", "/admin/x", "/%61dmin", "//admin", "/admin;x", "/;x/admin",
                "/%2561dmin", "/%2fadmin", "/./admin", "/a/../admin", "/a/..;/admin", "/a/%2e%2e/admin",
                "/a/..%2fadmin", "/%5cadmin", "/%c0%afadmin", "https://acme.example/admin",
                "https://acme.example//admin", "/admin?x=/open")) {
            assertThat(ask(target)).as(target).startsWith("HTTP/1.1 403 ").contains("problem+json");
        }
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void otherPathsPassAsTheyAre() throws Exception {
        rules(rule("/", new Requirement.None()), rule("/admin/", new Requirement.Deny()));

        for (String target : List.of("/", "/administrator", "/a%20b;c//d%2fe?x=../admin", "/x/admin")) {
            assertThat(ask(target)).startsWith("HTTP/1.1 204 ");
            assertThat(forwarded().path()).isEqualTo(target);
        }
    }

    @Test
    void whatNoRuleNamesIsClosed() {
        rules(rule("/open/", new Requirement.None()));

        assertThat(ask("/other")).startsWith("HTTP/1.1 403 ");
        assertThat(ask("/open")).startsWith("HTTP/1.1 204 ");
        edge.admission = access.of("id-1", AccessRules.NONE);
        assertThat(ask("/open")).as("a server that denies by default").startsWith("HTTP/1.1 403 ");
    }
}
