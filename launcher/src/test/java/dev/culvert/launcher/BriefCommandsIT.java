package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.culvert.certs.PemFiles;
import dev.culvert.launcher.certs.CertsFolder;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Short commands in processes of their own: what they load, and whom they trust. */
class BriefCommandsIT {
    private static final String[] LIBRARIES_OF_SERVICES = {"io.netty.", "reactor.", "org.reactivestreams.",
            "ch.qos.logback.", "org.slf4j.", "org.snakeyaml.", "org.bouncycastle.", "io.micrometer."};
    private static final char[] PASSWORD = "password".toCharArray();
    private static final List<String> CA = List.of("-Djavax.net.ssl.trustStore=ca.p12",
            "-Djavax.net.ssl.trustStorePassword=password");

    private static final String PLAIN = """
            ACCOUNT  NAME  STATE      TUNNELS  HOST              UPSTREAM
            acme     prod  connected  0        acme-prod.x.test  -
            """;

    @TempDir
    Path folder;

    /** A command that was started. */
    private record Started(String name, Path classes, Launched process) {}

    @Test
    void whatOnlyAsksOrPrintsLoadsNoLibraryOfTheServices() throws Exception {
        HttpServer http = listening(HttpServer.create());
        String admin = "http://" + address(http);
        Files.writeString(folder.resolve("admin.token"), "abc\n");
        try {
            List<Started> all = List.of(start("--version"), start("--help"),
                    start("runtime", "list", "--admin", admin),
                    start("webhook", "list", "--admin", admin),
                    start("client", "status", "--health", admin));

            for (Started each : all) {
                assertThat(each.process().exitCode()).as(each.name() + each.process().err()).isZero();
                assertThat(each.process().err()).as(each.name()).isEmpty();
                List<String> classes = Files.readAllLines(each.classes());
                assertThat(classes).as(each.name()).hasSizeGreaterThan(300);
                assertThat(classes.stream().filter(BriefCommandsIT::isOfAService)).as(each.name()).isEmpty();
            }
            assertThat(all.get(0).process().out()).startsWith("culvert ");
            assertThat(all.get(1).process().out()).contains("Runs the tunnel server");
            assertThat(all.get(2).process().out()).contains("acme     prod  connected");
            assertThat(all.get(4).process().out()).contains("state            connected");
        } finally {
            http.stop(0);
        }
    }

    /** {@code script} gives a command a terminal. */
    @Test
    void aTableFitsTheTerminalAndAPipeGetsAllOfIt() throws Exception {
        HttpServer http = listening(HttpServer.create());
        Files.writeString(folder.resolve("admin.token"), "abc\n");
        String[] list = {"runtime", "list", "--admin", "http://" + address(http)};
        try (Launched pipe = Launched.start(folder, List.of(), Map.of("COLUMNS", "30"), list)) {
            String narrow = inTerminal("stty cols 44; ", list);
            String plain = inTerminal("stty cols 80; NO_COLOR=1 ", list);

            assertThat(pipe.exitCode()).as(pipe.err()).isZero();
            assertThat(pipe.out()).isEqualTo(PLAIN);
            assertThat(narrow).isEqualTo("""
                    \u001b[1mACCOUNT  NAME  STATE   TUNNELS  HOST    UPSTREAM\u001b[0m
                    acme     prod  conne…  0        acme-…  -
                    """);
            assertThat(plain).isEqualTo(PLAIN);
            assertThat(inTerminal("NO_COLOR= TERM=xterm ", "--help")).contains("\u001b[1m");
            assertThat(inTerminal("TERM=dumb ", "--help")).contains("Usage: ").doesNotContain("\u001b");
        } finally {
            http.stop(0);
        }
    }

    private String inTerminal(String before, String... arguments) throws Exception {
        var command = new ArrayList<>(Launched.command(List.of()));
        command.addAll(List.of(arguments));
        Process script = new ProcessBuilder("script", "--quiet", "--return", "--command",
                before + "'" + String.join("' '", command) + "'", "/dev/null").directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .start();
        String shown = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(script.waitFor()).as(shown).isZero();
        return shown.replace("\r", "");
    }

    @Test
    void anHttpsAdminApiIsTrustedByItsAuthorityAndItsName() throws Exception {
        writeAuthority();
        HttpsServer https = listeningWith(serverTls("tunnel"));
        HttpsServer edge = listeningWith(serverTls("edge"));
        Files.writeString(folder.resolve("admin.token"), "abc\n");
        try (Launched trusted = Launched.start(folder, CA, "runtime", "list", "--admin",
                "https://" + address(https));
                Launched stranger = Launched.start(folder, "runtime", "list", "--admin",
                        "https://" + address(https));
                Launched otherName = Launched.start(folder, CA, "runtime", "list", "--admin",
                        "https://" + address(edge))) {
            assertThat(trusted.exitCode()).as(trusted.err()).isZero();
            assertThat(trusted.out()).contains("acme     prod  connected");
            assertThat(stranger.exitCode()).isEqualTo(69);
            assertThat(stranger.err())
                    .contains("can't be reached",
                            "no authority that is trusted here has signed its certificate")
                    .doesNotContain("\tat ");
            assertThat(otherName.exitCode()).isEqualTo(69);
            assertThat(otherName.err()).contains("its certificate is not for 127.0.0.1 (expected: an address")
                    .doesNotContain("\tat ");
        } finally {
            https.stop(0);
            edge.stop(0);
        }
    }

    private Started start(String... arguments) throws IOException {
        String name = String.join(" ", arguments);
        Path classes = Files.createTempFile(folder, "classes", ".log");
        return new Started(name, classes,
                Launched.start(folder, List.of("-Xlog:class+load:file=" + classes), arguments));
    }

    private static boolean isOfAService(String line) {
        for (String each : LIBRARIES_OF_SERVICES) {
            if (line.contains(" " + each)) {
                return true;
            }
        }
        return false;
    }

    /** Answers as an admin API with one runtime, as an inbox without webhooks, and as a connected client. */
    private static <T extends HttpServer> T listening(T server) throws IOException {
        server.createContext("/", BriefCommandsIT::answer);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.start();
        return server;
    }

    private static HttpsServer listeningWith(SSLContext tls) throws IOException {
        HttpsServer server = HttpsServer.create();
        server.setHttpsConfigurator(new HttpsConfigurator(tls));
        return listening(server);
    }

    private static String address(HttpServer server) {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        String body = """
                {"state": "connected", "sessions": [], "next": null,
                 "items": [{"account": "acme", "name": "prod", "state": "connected", "host": "acme-prod.x.test"}]}
                """;
        exchange.sendResponseHeaders(200, 0); // chunked
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Makes certificates, and a trust store of their authority for the JVM of a command. */
    private void writeAuthority() throws Exception {
        new CertsFolder(folder).init("x.test");
        var trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("ca", PemFiles.readCertificates(folder.resolve("ca.crt")).getFirst());
        try (OutputStream out = Files.newOutputStream(folder.resolve("ca.p12"))) {
            trusted.store(out, PASSWORD);
        }
    }

    private SSLContext serverTls(String name) throws Exception {
        var keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("server", PemFiles.readKey(folder.resolve(name + ".key")), PASSWORD,
                PemFiles.readCertificates(folder.resolve(name + ".crt")).toArray(new X509Certificate[0]));
        var factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(keys, PASSWORD);
        var context = SSLContext.getInstance("TLS");
        context.init(factory.getKeyManagers(), null, null);
        return context;
    }
}
