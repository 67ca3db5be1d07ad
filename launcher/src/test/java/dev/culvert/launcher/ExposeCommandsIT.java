package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.net.ssl.SNIHostName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.http.client.HttpClient;

/** {@code culvert connect} and {@code culvert http} beside a real server. */
class ExposeCommandsIT {
    private static final Duration WAIT = Duration.ofSeconds(30);
    private static final String HOST = "acme-web.x.test";
    @TempDir
    private Path folder;
    private HttpServer service;

    @BeforeEach
    void writeFilesAndServe() throws Exception {
        Launched.writeServer(folder);
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.createContext("/", exchange -> {
            byte[] hello = "hello".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, hello.length);
            exchange.getResponseBody().write(hello);
            exchange.close();
        });
        service.start();
    }

    @AfterEach
    void stop() {
        service.stop(0);
    }

    @Test
    void oneWordExposesAServiceAgainAndAgain() throws Exception {
        String port = String.valueOf(service.getAddress().getPort());
        String tunnelAddress;
        try (Launched server = Launched.start(folder, "server", "--config", "server.yaml")) {
            JsonNode ready = server.event("listening");
            tunnelAddress = ready.path("tunnel").asText();
            String tunnel = "wss://" + tunnelAddress;
            int edge = Integer.parseInt(ready.path("edge").asText().split(":", 2)[1]);
            String url = "https://" + HOST + ":" + edge;
            Captured created = Captured.run("runtime", "create", "acme", "web", "--token-file",
                    file("token"), "--admin", "http://" + ready.path("admin").asText(),
                    "--admin-token-file", file("admin.token"));
            assertThat(created.exitCode()).as(created.err()).isZero();

            Ended first = run("http", port);
            assertThat(first.code()).isEqualTo(ExitCode.CONFIG);
            assertThat(first.err()).contains("culvert connect wss://HOST:PORT --token-file FILE");

            Ended connected = run("connect", tunnel, "--token-file", "token");
            assertThat(connected.code()).as(connected.err()).isZero();
            assertThat(connected.out()).contains("connected as acme/web, whose public URL is " + url,
                    "next: culvert http 3000");
            assertThat(modes()).allSatisfy(mode -> assertThat(mode).startsWith("rw-------"));

            Ended again = run("connect", tunnel, "--token-file", "token");
            assertThat(again.code()).isEqualTo(ExitCode.USAGE);
            assertThat(again.err()).contains("--replace", "--name");
            Ended usedUp = run("connect", tunnel, "--token-file", "token", "--name", "two");
            assertThat(usedUp.code()).isEqualTo(ExitCode.CONFIG);
            assertThat(usedUp.err()).contains("culvert runtime enrol-token acme web");
            try (Stream<Path> left = Files.list(folder.resolve("xdg/culvert"))) {
                assertThat(left.filter(Files::isDirectory).map(Path::getFileName).map(Path::toString))
                        .containsExactly("default");
            }

            try (Launched http = start("http", port)) {
                http.printed(url + " leads to http://localhost:" + port);
                for (int i = 0; i < 100; i++) {
                    assertThat(get(edge, "/n" + i)).isEqualTo(200);
                }
                http.printed("GET /n99  200  ");
                assertThat(http.out().lines().filter(line -> line.contains("GET /n"))).hasSize(100);

                Ended second = run("http", port);
                assertThat(second.code()).isEqualTo(ExitCode.UNAVAILABLE);
                assertThat(second.err()).contains(" uses the connection default already");
                http.kill();
            }
            try (Launched anew = start("http", port)) {
                anew.printed(url + " leads to http://localhost:" + port);
                assertThat(get(edge, "/again")).isEqualTo(200);
                service.stop(0);
                assertThat(get(edge, "/gone")).isEqualTo(502);
                anew.printed("GET /gone  502  ");
                anew.printed(":" + port + " refused the connection: is it running?");
                assertThat(anew.terminate().exitCode()).isZero();
                assertThat(anew.out()).contains("ended; 2 requests");
            }
        }
        try (Launched early = start("http", port)) {
            early.printed("not connected, trying on: ");
            try (Launched server = Launched.start(folder, "server", "--config", "server.yaml",
                    "--tunnel-listen", tunnelAddress)) {
                server.event("listening");
                early.printed("https://" + HOST);
                early.printed(" leads to http://localhost:" + port);
            }
        }
    }

    private record Ended(int code, String out, String err) {}

    private Ended run(String... arguments) throws Exception {
        try (Launched command = start(arguments)) {
            return new Ended(command.exitCode(), command.out(), command.err());
        }
    }

    private Launched start(String... arguments) throws Exception {
        return Launched.start(folder, List.of(), Map.of("XDG_DATA_HOME", file("xdg")), arguments);
    }

    /** The modes of the files that hold what others may not read or change. */
    private List<String> modes() throws Exception {
        try (Stream<Path> files = Files.list(folder.resolve("xdg/culvert/default"))) {
            return files.filter(file -> !file.toString().endsWith(".crt")).map(file -> {
                try {
                    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file)) + " " + file;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }).toList();
        }
    }

    private int get(int edge, String path) {
        var trust = ServerTrust.inAuthorities(PemFiles.readCertificates(folder.resolve("ca.crt")));
        var tls = TlsContexts.client(trust, null, List.of("http/1.1"));
        Integer status = HttpClient.create()
                .remoteAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), edge))
                .secure(spec -> spec.sslContext(tls)
                        .serverNames(new SNIHostName(HOST)))
                .headers(fields -> fields.set("host", HOST))
                .get()
                .uri(path)
                .responseSingle((response, body) -> body.then()
                        .thenReturn(response.status().code()))
                .block(WAIT);
        return status == null ? 0 : status;
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }
}
