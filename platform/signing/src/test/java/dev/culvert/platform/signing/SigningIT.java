package dev.culvert.platform.signing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.platform.directory.testing.Plane;
import dev.culvert.platform.directory.testing.Plane.Answer;
import dev.culvert.store.Database.Engine;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Certificates of build machines, asked for and judged by OpenSSL, on both engines. */
@ParameterizedClass
@EnumSource
class SigningIT {
    private static final String ROOT = "/api/custom_clusters";
    private static final JsonMapper JSON = new JsonMapper();

    private final Engine engine;
    private final HttpClient http = HttpClient.newHttpClient();

    @TempDir
    Path folder;
    private Plane plane;

    SigningIT(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void start() {
        assumeThat(openssl("version").code()).isZero();
        plane = Plane.start(folder, Plane.store(engine));
    }

    @AfterEach
    void stop() {
        if (plane != null) {
            plane.close();
        }
        http.close();
    }

    private record Ended(int code, String text) {}

    private Ended openssl(String... arguments) {
        var command = new ArrayList<>(List.of("openssl"));
        command.addAll(Arrays.asList(arguments));
        try {
            Process process = new ProcessBuilder(command).directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String text = new String(process.getInputStream().readAllBytes(),
                    StandardCharsets.UTF_8);
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
            return new Ended(process.exitValue(), text);
        } catch (IOException e) {
            return new Ended(127, String.valueOf(e));
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** A request for a new key of these parameters. */
    private String csr(String... newKey) {
        var arguments = new ArrayList<>(List.of("req", "-new", "-nodes", "-subj", "/CN=anything", "-keyout",
                "key.pem", "-out", "csr.pem"));
        arguments.addAll(Arrays.asList(newKey));
        Ended made = openssl(arguments.toArray(String[]::new));
        assertThat(made.code()).as(made.text()).isZero();
        return read("csr.pem");
    }

    private String csr() {
        return csr("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256");
    }

    private String read(String name) {
        try {
            return Files.readString(folder.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpResponse<byte[]> post(String path, String key, Map<String, String> body) {
        try {
            return http.send(HttpRequest.newBuilder(plane.uri(ROOT + path))
                    .header("authorization", key)
                    .header("content-type", "application/json")
                    .POST(BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)))
                    .build(), BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Unpacks a zip into the folder. Returns the names of its files. */
    private List<String> unpacked(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).as(new String(answer.body(), StandardCharsets.UTF_8))
                .isEqualTo(200);
        List<String> names = new ArrayList<>();
        try (var zip = new ZipInputStream(new ByteArrayInputStream(answer.body()))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                names.add(entry.getName());
                Files.write(folder.resolve(entry.getName()), zip.readAllBytes());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return names;
    }

    private List<String> server(String names, String csr) {
        return unpacked(
                post("/signServerCerts", plane.admin, Map.of("reqSubjectAltName", names, "csr", csr)));
    }

    private String refused(String names, String csr) {
        HttpResponse<byte[]> answer = post("/signServerCerts", plane.admin,
                Map.of("reqSubjectAltName", names, "csr", csr));
        assertThat(answer.statusCode()).isEqualTo(400);
        try {
            return JSON.readTree(answer.body()).path("detail").asText();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void opensslAcceptsServersAndClients() {
        assertThat(server("IP:127.0.0.1,DNS:dind,DNS:*.dind.builds,DNS:*.dind.builds.svc", csr()))
                .containsExactly("cf-ca.pem", "cf-server-cert.pem");
        Ended verified = openssl("verify", "-purpose", "sslserver", "-x509_strict", "-verify_hostname",
                "a.dind.builds", "-CAfile", "cf-ca.pem", "cf-server-cert.pem");
        assertThat(verified.code()).as(verified.text()).isZero();
        assertThat(openssl("x509", "-in", "cf-server-cert.pem", "-noout", "-checkend",
                String.valueOf(91L * 86_400)).code()).isEqualTo(1); // 90 days at most
        Ended foreign = openssl("verify", "-verify_hostname", "example.com", "-CAfile", "cf-ca.pem",
                "cf-server-cert.pem");
        assertThat(foreign.code()).isNotZero();

        assertThat(unpacked(post("/clientCerts", plane.admin, Map.of("csr", csr("-newkey", "ed25519")))))
                .containsExactly("cf-ca.pem", "cf-cert.pem");
        Ended client = openssl("verify", "-purpose", "sslclient", "-x509_strict", "-CAfile", "cf-ca.pem",
                "cf-cert.pem");
        assertThat(client.code()).as(client.text()).isZero();
        assertThat(openssl("verify", "-purpose", "sslserver", "-CAfile", "cf-ca.pem", "cf-cert.pem").code())
                .isNotZero();
    }

    @Test
    void allUsualKeysAreSignedAndOthersRefused() {
        server("DNS:dind", csr("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384", "-sha384"));
        server("DNS:dind", csr("-newkey", "rsa:2048"));
        server("DNS:dind", csr("-newkey", "ed25519"));

        assertThat(refused("DNS:dind", csr("-newkey", "rsa:1024"))).isEqualTo(
                "csr: an RSA key of 1024 bits (expected: 2048 to 8192)");
        assertThat(refused("DNS:dind", csr("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp256k1")))
                .startsWith("csr: a certificate request for another kind of key");
        assertThat(refused("DNS:dind", csr("-newkey", "rsa:2048", "-sha1")))
                .startsWith("csr: a certificate request with another signature");
        assertThat(refused("DNS:dind", csr("-newkey", "rsa:2048", "-md5")))
                .startsWith("csr: a certificate request with another signature");
        String right = csr();
        String[] lines = right.split("\n", -1);
        lines[3] = lines[3].startsWith("A") ? "B" + lines[3].substring(1) : "A" + lines[3].substring(1);
        assertThat(refused("DNS:dind", String.join("\n", lines))).startsWith("csr: ");
        assertThat(refused("DNS:dind", right + right)).startsWith("csr: not a certificate request");
        assertThat(refused("DNS:dind", "x".repeat(20_000))).startsWith("csr: a certificate request of 20000");
        assertThat(post("/signServerCerts", plane.admin,
                Map.of("reqSubjectAltName", "DNS:dind", "csr", "x".repeat(1 << 20))).statusCode())
                .isEqualTo(413);
    }

    @Test
    void anAccountAsksForItsNamesAlone() {
        String csr = csr();
        assertThat(refused("DNS:dind,DNS:example.com", csr)).startsWith(
                "reqSubjectAltName: example.com is no name that the account may ask for");
        for (String name : List.of("DNS:*.dind.a.b", "DNS:dind.evil.svc", "IP:10.0.0.1", "DNS:*.*.builds",
                "DNS:*", "DNS:*.dind.*")) {
            assertThat(refused(name, csr)).as(name).startsWith("reqSubjectAltName: ");
        }
        assertThat(refused("URI:spiffe://x", csr)).isEqualTo("reqSubjectAltName: URI:spiffe://x (expected:"
                + " DNS:name or IP:address, with commas between them)");

        Answer set = plane.call("PUT", ROOT + "/names", plane.admin,
                "{\"names\":[\"builder.example.com\",\"10.1.2.3\",\"2001:db8::1\"]}");
        assertThat(set.status()).as(set.json().toString()).isEqualTo(200);
        server("DNS:builder.example.com,IP:10.1.2.3,IP:2001:db8:0::1", csr);
        assertThat(refused("DNS:dind", csr)).contains("dind is no name");
        assertThat(plane.call("PUT", ROOT + "/names", plane.admin, "{\"names\":[\"Not a name\"]}").status())
                .isEqualTo(400);
        String other = plane.otherAccount("other");
        assertThat(plane.call("GET", ROOT + "/names", other, "").json().path("names").toString())
                .contains("dind");
    }

    @Test
    void aRevokedCertificateIsInTheList() throws IOException, InterruptedException {
        server("DNS:dind", csr());
        String list = ROOT + "/crl?account=" + plane.account();
        crl(list);
        Ended before = openssl("verify", "-crl_check", "-CRLfile", "crl.pem", "-CAfile", "cf-ca.pem",
                "cf-server-cert.pem");
        assertThat(before.code()).as(before.text()).isZero();

        String serial = plane.call("GET", ROOT + "/certificates", plane.admin, "")
                .json()
                .at("/items/0/serial")
                .asText();
        assertThat(plane.call("DELETE", ROOT + "/certificates/" + serial, plane.admin, "").status())
                .isEqualTo(204);
        assertThat(plane.call("DELETE", ROOT + "/certificates/0", plane.admin, "").status()).isEqualTo(404);

        crl(list);
        Ended after = openssl("verify", "-crl_check", "-CRLfile", "crl.pem", "-CAfile", "cf-ca.pem",
                "cf-server-cert.pem");
        assertThat(after.text()).contains("certificate revoked");
        assertThat(openssl("crl", "-in", "crl.pem", "-noout", "-crlnumber").text()).contains("02");
        assertThat(plane.call("GET", ROOT + "/crl?account=" + "0".repeat(24), "", "").status())
                .isEqualTo(404);
    }

    /** Gets the list without a key, and writes it as PEM. */
    private void crl(String path) throws IOException, InterruptedException {
        Files.write(folder.resolve("crl.der"), http
                .send(HttpRequest.newBuilder(plane.uri(path)).build(), BodyHandlers.ofByteArray())
                .body());
        Ended turned = openssl("crl", "-inform", "DER", "-in", "crl.der", "-out", "crl.pem");
        assertThat(turned.code()).as(turned.text()).isZero();
    }

    @Test
    void eachAccountHasOneAuthorityWhoseKeyIsNowhere() {
        String other = plane.otherAccount("other");
        server("DNS:dind", csr());
        String own = read("cf-ca.pem");
        unpacked(post("/clientCerts", other, Map.of("csr", csr())));
        assertThat(read("cf-ca.pem")).isNotEqualTo(own);
        assertThat(plane.call("GET", ROOT + "/certificates", other, "").json().path("items")).hasSize(1);
        var authorities = new TreeSet<String>();
        for (int i = 0; i < 3; i++) {
            server("DNS:dind", csr());
            authorities.add(read("cf-ca.pem"));
        }
        assertThat(authorities).containsExactly(own);
        plane.stop();
        plane.restart();
        server("DNS:dind", csr());
        assertThat(read("cf-ca.pem")).isEqualTo(own);
        assertThat(plane.dump()).contains("BEGIN CERTIFICATE").doesNotContain("PRIVATE KEY");
        String member = plane.userOf(plane.account(), "jo", false);
        assertThat(post("/clientCerts", member, Map.of("csr", csr())).statusCode()).isEqualTo(403);
    }
}
