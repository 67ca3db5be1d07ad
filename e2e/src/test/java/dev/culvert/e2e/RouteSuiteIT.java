package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import dev.culvert.router.RouterConfig;
import dev.culvert.router.RouterServer;
import dev.culvert.routing.RoutingConfig;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same requests in every mode: at the router itself, behind nginx and HAProxy with their configurations of deploy/ingress,
 * and through a tunnel. What reaches an upstream, and every byte of an answer but a few fields, is the same; what an ingress
 * controller refuses by itself stands in ingress-cases.csv.
 */
class RouteSuiteIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final String HOST = "acme-prod." + Platform.DOMAIN;
    /** Each hop's own: when, by whom, how the connection goes on, and whether an inbox stands there. */
    private static final Set<String> OF_THE_HOP = Set.of("date", "server", "via", "connection", "keep-alive",
            "culvert-webhook-id");
    private static final Pattern CUSTOM = Pattern.compile("[a-z0-9-]+(\\.[a-z0-9-]+)+");

    @TempDir
    static Path folder;

    private static NamedUpstreams upstreams;
    private static RouterServer router;
    private static RouterServer secured;
    private static Platform platform;

    @BeforeAll
    static void start() throws Exception {
        upstreams = new NamedUpstreams(RouteSuite.upstreams());
        RoutingConfig routing = RouteSuite.routing(upstreams.addresses());
        platform = Platform.start(folder);
        router = started(RouterConfig.of(ANY, routing).behind(List.of("127.0.0.1"), false));
        secured = started(RouterConfig.of(ANY, routing)
                .behind(List.of("127.0.0.1"), true)
                .with(new RouterConfig.Tls(folder.resolve("edge.crt"), folder.resolve("edge.key")), null,
                        null));
        String hosts = customHosts().stream().map(host -> '"' + host + '"').collect(Collectors.joining(","));
        String made = platform.admin(HttpMethod.POST, "/api/v1/runtimes",
                "{\"account\":\"acme\",\"name\":\"prod\",\"hosts\":[" + hosts + "]}");
        assertThat(made).contains("enrolmentToken");
        platform.connect(
                platform.clientConfig("acme", "prod", platform.enrolToken("acme", "prod", "1h"), null,
                        routing));
    }

    private static RouterServer started(RouterConfig config) {
        return Objects.requireNonNull(RouterServer.start(config).block(PATIENCE));
    }

    /** Those of the cases that a runtime may have. */
    private static Set<String> customHosts() throws IOException {
        return RouteSuite.cases()
                .stream()
                .map(RouteSuiteIT::host)
                .filter(host -> CUSTOM.matcher(host).matches())
                .collect(Collectors.toSet());
    }

    private static String host(RouteSuite.Case given) {
        String host = given.host().toLowerCase(Locale.ROOT).replaceFirst(":\\d+$", "");
        return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    }

    @AfterAll
    static void stop() throws IOException {
        router.stop(Duration.ZERO).block(PATIENCE);
        secured.stop(Duration.ZERO).block(PATIENCE);
        platform.close();
        upstreams.close();
    }

    // ---- the modes ----

    @Test
    void atTheRouterEachRequestEndsWhereItsCaseSays() throws Exception {
        List<String> wrong = new ArrayList<>();
        for (RouteSuite.Case given : RouteSuite.cases()) {
            Answer answer = plain(given);
            String expected = given.isForwarded() ? forwarded(given) : given.expected();
            if (!answer.told().equals(expected)) {
                wrong.add(given + ": " + answer.told());
            }
        }

        assertThat(wrong).isEmpty();
        assertThat(RouteSuite.cases()).hasSizeGreaterThan(60);
    }

    private static String forwarded(RouteSuite.Case given) {
        String[] to = given.expected().split(" ", 2);
        String body = given.method().equals("HEAD") ? "" : to[0] + " " + given.method() + " " + to[1];
        return "200 " + to[0] + " " + body;
    }

    @Test
    void throughATunnelTheAnswersAreTheSame() throws Exception {
        int port = platform.server.edgeAddress().port();
        List<String> different = new ArrayList<>();
        for (RouteSuite.Case given : RouteSuite.cases()) {
            if (given.host().equals("-") || CUSTOM.matcher(host(given)).matches()) {
                compare(given, tls(port, given), "", different);
            }
        }

        assertThat(different).isEmpty();
    }

    @Test
    void behindNginxTheAnswersAreTheSame() throws Exception {
        try (Ingress nginx = Ingress.nginx(folder, router.address())) {
            assertThat(differences("nginx", nginx)).isEmpty();
        }
    }

    @Test
    void behindHaproxyTheAnswersAreTheSame() throws Exception {
        try (Ingress haproxy = Ingress.haproxy(folder, "haproxy.cfg", router.address())) {
            assertThat(differences("haproxy", haproxy)).isEmpty();
        }
    }

    @Test
    void behindHaproxyThatPassesTlsOnTheAnswersAreTheSame() throws Exception {
        try (Ingress haproxy = Ingress.haproxy(folder, "haproxy-proxy-protocol.cfg", secured.address())) {
            assertThat(differences("", haproxy)).isEmpty();
        }
    }

    private static List<String> differences(String name, Ingress ingress) throws Exception {
        Map<String, String> refusals = refusals(name);
        List<String> different = new ArrayList<>();
        for (RouteSuite.Case given : RouteSuite.cases()) {
            String status = refusals.getOrDefault(given.target(), "");
            compare(given, tls(ingress.port(), given), status, different);
        }
        return different;
    }

    /** @param refused the status by which somebody refuses it before the router; empty: nobody does */
    private static void compare(RouteSuite.Case given, Answer answer, String refused, List<String> different)
            throws IOException {
        String here = refused.isEmpty() ? plain(given).toString() : refused;
        String there = refused.isEmpty() ? answer.toString() : answer.status();
        if (!there.equals(here) || (!refused.isEmpty() && given.isForwarded())) {
            different.add(given + "\n  expected " + here + "\n  but was  " + there);
        }
    }

    /** What an ingress controller refuses before the router, by target. */
    private static Map<String, String> refusals(String name) throws IOException {
        try (var lines = Files.lines(Path.of("src", "test", "resources", "ingress-cases.csv"))) {
            return lines.filter(line -> !line.startsWith("#") && !line.isBlank())
                    .map(line -> line.split("\\|", -1))
                    .filter(cells -> cells[0].strip().equals(name))
                    .collect(Collectors.toMap(cells -> cells[1].strip(), cells -> cells[2].strip()));
        }
    }

    // ---- what goes over sockets ----

    private static Answer plain(RouteSuite.Case given) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), router.address().port())) {
            return exchange(socket, given);
        }
    }

    private static Answer tls(int port, RouteSuite.Case given) throws IOException {
        try (Socket socket = Wire.tls(port)) {
            return exchange(socket, given);
        }
    }

    private static Answer exchange(Socket socket, RouteSuite.Case given) throws IOException {
        socket.setSoTimeout(Wire.PATIENCE_MILLIS);
        socket.getOutputStream().write(given.bytes(HOST).getBytes(StandardCharsets.ISO_8859_1));
        return Answer.of(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1));
    }

    /**
     * An answer without what is each hop's own.
     *
     * @param fields names in lower case, sorted
     */
    private record Answer(String status, Map<String, String> fields, String body) {
        static Answer of(String text) {
            int end = Math.max(0, text.indexOf("\r\n\r\n"));
            List<String> lines = text.substring(0, end).lines().toList();
            if (lines.isEmpty()) {
                return new Answer("none", Map.of(), text);
            }
            Map<String, String> fields = new TreeMap<>();
            for (String line : lines.subList(1, lines.size())) {
                String name = line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT);
                if (!OF_THE_HOP.contains(name)) {
                    fields.put(name, line.substring(line.indexOf(':') + 1).strip());
                }
            }
            return new Answer(lines.getFirst().split(" ", 3)[1], fields, text.substring(end + 4));
        }

        /** As a case's expectation says it. */
        String told() {
            String upstream = fields.get("x-upstream");
            return upstream != null
                    ? status + " " + upstream + " " + body
                    : status + " " + part("type\":\"urn:culvert:problem:") + " " + part("hop\":\"");
        }

        private @Nullable String part(String begin) {
            int start = body.indexOf(begin);
            return start < 0
                    ? null
                    : body.substring(start + begin.length(), body.indexOf('"', start + begin.length()));
        }
    }
}
