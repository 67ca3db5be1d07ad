package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.credentials.TokensConfig;
import dev.culvert.appproxy.repositories.IntegrationConfig;
import dev.culvert.appproxy.repositories.RepositoriesConfig;
import dev.culvert.client.TunnelClient;
import dev.culvert.config.HostPort;
import dev.culvert.router.RouterConfig;
import dev.culvert.router.RouterServer;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.server.ServerConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.netty.http.client.HttpClient;

/** The metrics of docs/operations.md against what running parts show. */
class OperationsPageIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Path PAGE = Path.of("..", "docs", "operations.md");
    private static final Pattern LABEL = Pattern.compile("[{,]([a-z_]+)=");
    private static final Pattern WORD = Pattern.compile("`([a-z_*]+)`");

    @TempDir
    static Path folder;

    private static final Map<String, Map<String, Family>> SHOWN = new TreeMap<>();

    /** One metric, as the page or a part describes it. */
    private record Family(String type, Set<String> labels) {}

    private record Row(String name, String unit, List<String> parts, Family family) {}

    /** Sends requests that fail and one that is nobody's, then reads each part's metrics. */
    @BeforeAll
    static void scrape() throws Exception {
        var repositories = RepositoriesConfig.of(
                List.of(IntegrationConfig.folder("here", Files.createDirectory(folder.resolve("git")))),
                TokensConfig.files(folder.resolve("git-tokens"), folder.resolve("git-tokens.key")));
        AppProxy appProxy = Objects.requireNonNull(AppProxy.start(AppProxyConfig.of(
                HostPort.parse("127.0.0.1:0"), null, AppProxyConfig.Handlers.of(repositories)))
                .block(PATIENCE));
        try (Platform platform = Platform.start(folder,
                usual -> usual.with(new ServerConfig.Tcp(HostPort.parse("127.0.0.1:0"))))) {
            TunnelClient client = platform.connect("acme", "prod",
                    URI.create("http://" + appProxy.address()));
            assertThat(status(platform.caller("acme", "prod"), "/nothing")).isEqualTo(404);
            assertThat(status(platform.caller("acme", "none"), "/")).isEqualTo(404);
            refusedRaw(platform);
            platform.createRuntime("acme", "hooks");
            assertThat(RawCaller.exchange(platform, "POST /webhooks/a/b HTTP/1.1\r\nHost: acme-hooks."
                    + Platform.DOMAIN + "\r\nContent-Length: 99999999\r\nConnection: close\r\n\r\na"))
                    .startsWith("HTTP/1.1 413 ");

            SHOWN.put("server", families(platform.server.adminAddress()));
            SHOWN.put("client", families(client.healthAddress()));
            SHOWN.put("app-proxy", families(appProxy.address()));
            SHOWN.put("router", router());
        } finally {
            appProxy.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    /** What a router of its own pod shows, once it had a request for which there is no route. */
    private static Map<String, Family> router() throws IOException {
        var any = HostPort.parse("127.0.0.1:0");
        RouterServer router = Objects.requireNonNull(RouterServer.start(RouterConfig
                .of(any, new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of("a/b")),
                        Map.of()))
                .with(null, new RouterConfig.Health(any), folder.resolve("router")))
                .block(PATIENCE));
        try {
            assertThat(status(HttpClient.create().baseUrl("http://" + router.address()), "/nothing"))
                    .isEqualTo(404);
            assertThat(tooLong(router)).startsWith("HTTP/1.1 413 ");
            return families(Objects.requireNonNull(router.healthAddress()));
        } finally {
            router.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    /** A webhook that no inbox takes. */
    private static String tooLong(RouterServer router) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), router.address().port())) {
            String head = String.join("\r\n", "POST /webhooks/a/b HTTP/1.1", "Host: x",
                    "Content-Length: 99999999", "", "a");
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes(64), StandardCharsets.US_ASCII);
        }
    }

    /** Asks for a raw connection that the cluster does not list. */
    private static void refusedRaw(Platform platform) throws IOException {
        int port = Objects.requireNonNull(platform.server.tcpAddress()).port();
        try (var caller = (SSLSocket) SSLSocketFactory.getDefault()
                .createSocket(InetAddress.getLoopbackAddress(), port)) {
            SSLParameters names = caller.getSSLParameters();
            names.setServerNames(List.of(new SNIHostName("db.acme-prod." + Platform.DOMAIN)));
            caller.setSSLParameters(names);
            assertThatThrownBy(caller::startHandshake).isInstanceOf(SSLException.class);
        }
    }

    @AfterAll
    static void forget() {
        SHOWN.clear();
    }

    @ParameterizedTest
    @ValueSource(strings = {"server", "client", "router", "app-proxy"})
    void thePageListsWhatAPartShowsAndNoMore(String part) throws IOException {
        List<Row> rows = rows().stream().filter(row -> row.parts.contains(part)).toList();
        Map<String, Family> shown = new TreeMap<>(Objects.requireNonNull(SHOWN.get(part)));

        for (Row row : rows) {
            if (row.name.endsWith("*")) {
                String prefix = row.name.substring(0, row.name.length() - 1);
                assertThat(shown.keySet().removeIf(name -> name.startsWith(prefix))).as(row.name).isTrue();
            } else {
                assertThat(shown.remove(row.name)).as(row.name).isEqualTo(row.family);
            }
        }
        assertThat(shown).as("not on the page").isEmpty();
    }

    @Test
    void baseUnitsAreInTheName() throws IOException {
        assertThat(rows()).allSatisfy(row -> {
            if (row.unit.equals("seconds") || row.unit.equals("bytes")) {
                assertThat(row.name).contains("_" + row.unit);
            }
        });
    }

    private static List<Row> rows() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf("<!-- metrics -->");
        return page.substring(begin, page.indexOf("<!-- end -->", begin))
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split("\\|"))
                .map(cells -> new Row(cells[1].strip().replace("`", ""), cells[3].strip(),
                        Arrays.stream(cells[5].split(",")).map(String::strip).toList(),
                        new Family(cells[2].strip(), all(WORD, cells[4]))))
                .toList();
    }

    private static Map<String, Family> families(HostPort address) {
        String text = Objects.requireNonNull(HttpClient.create()
                .get()
                .uri("http://" + address + "/metrics")
                .responseContent()
                .aggregate()
                .asString()
                .block(PATIENCE));
        Map<String, Family> families = new TreeMap<>();
        Family family = new Family("", new TreeSet<>());
        for (String line : text.lines().toList()) {
            if (line.startsWith("# HELP culvert_")) {
                assertThat(line).matches("# HELP \\w+ [A-Z].+");
            } else if (line.startsWith("# TYPE ")) {
                String[] words = line.split(" ", 4);
                family = new Family(words[3], new TreeSet<>());
                families.put(words[2], family);
            } else if (!line.startsWith("#") && line.indexOf('{') > 0) {
                family.labels.addAll(all(LABEL, line));
            }
        }
        return families;
    }

    private static Set<String> all(Pattern pattern, String text) {
        Set<String> found = new TreeSet<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    private static Integer status(HttpClient caller, String path) {
        return Objects.requireNonNull(caller.get()
                .uri(path)
                .responseSingle((head, body) -> body.asByteArray().thenReturn(head.status().code()))
                .block(PATIENCE));
    }
}
