package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.client.TunnelClient;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.relay.testing.CorpusCase;
import dev.culvert.relay.testing.CorpusHttp2;
import dev.culvert.relay.testing.CorpusRun;
import dev.culvert.relay.testing.TlsCaller;
import dev.culvert.router.RouterConfig;
import dev.culvert.router.RouterServer;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.TcpRouteConfig;
import dev.culvert.server.ServerConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * Public faults of HTTP servers, proxies and libraries, each sent to every listener that speaks its protocol: refused, or
 * bounded, while other callers are served. The cases are those of the relay's corpus that name a source, and the files of
 * {@code past-faults}. The table of cases and listeners is in {@code target/past-faults.txt}.
 */
class PastFaultsIT {
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String HOST = "acme-prod." + Platform.DOMAIN;
    private static final String RAW_HOST = "echo." + HOST;
    private static final Path FOLDER = Path.of("src", "test", "resources", "past-faults");
    /** Callers at the same time. */
    private static final int CALLERS = 8;
    private static final Duration HONEST_PACE = Duration.ofMillis(50);

    @TempDir
    static Path folder;

    private static StrictUpstream upstream;
    private static ServerSocket rawUpstream;
    private static Platform platform;
    private static RouterServer router;
    private static AppProxy appProxy;
    private static ControlPlane controlPlane;
    private static final Map<String, Integer> LISTENERS = new LinkedHashMap<>();

    @BeforeAll
    static void start() throws Exception {
        upstream = new StrictUpstream();
        rawUpstream = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.startVirtualThread(PastFaultsIT::acceptRaw);
        platform = Platform.start(folder, usual -> Listeners.withCertificates(usual, certificate())
                .with(new ServerConfig.Tcp(ANY)));
        var routes = List.of(RouteConfig.of("/", "http://127.0.0.1:" + upstream.port()));
        var raw = List.of(
                TcpRouteConfig.named("echo", HostPort.parse("127.0.0.1:" + rawUpstream.getLocalPort())));
        TunnelClient client = platform.connect(platform.clientConfig("acme", "prod",
                platform.createRuntime("acme", "prod"), null,
                new RoutingConfig(routes, raw, RoutingConfig.Policy.refusing(), Map.of())));
        router = Objects.requireNonNull(RouterServer.start(RouterConfig
                .of(ANY, new RoutingConfig(routes, RoutingConfig.Policy.refusing(), Map.of()))
                .with(null, new RouterConfig.Health(ANY), null)).block(TIME));
        appProxy = Objects.requireNonNull(AppProxy.start(AppProxyConfig.of(ANY, "acme/prod",
                AppProxyConfig.Handlers.of(new AppProxyConfig.Info()))).block(TIME));
        controlPlane = Objects.requireNonNull(ControlPlane.start(ControlPlaneConfig.of(ANY,
                folder.resolve("plane"), ControlPlaneConfig.Nudge.none())).block(TIME));
        LISTENERS.put("edge", platform.server.edgeAddress().port());
        LISTENERS.put("tunnel", platform.server.tunnelAddress().port());
        LISTENERS.put("tcp", Objects.requireNonNull(platform.server.tcpAddress()).port());
        LISTENERS.put("router", router.address().port());
        LISTENERS.put("app-proxy", appProxy.address().port());
        LISTENERS.put("control-plane", controlPlane.address().port());
        LISTENERS.put("admin", platform.server.adminAddress().port());
        LISTENERS.put("client-health", Objects.requireNonNull(client.healthAddress()).port());
        LISTENERS.put("router-health", Objects.requireNonNull(router.healthAddress()).port());
    }

    /** Another certificate than that of all runtimes, for the name of the raw upstream. */
    private static ServerConfig.Tls certificate() {
        CertificateAuthority.load(folder.resolve("ca.crt"), folder.resolve("ca.key"))
                .issueServer(List.of(RAW_HOST), List.of(), Duration.ofDays(1))
                .writeTo(folder.resolve("raw.crt"), folder.resolve("raw.key"));
        return new ServerConfig.Tls(folder.resolve("raw.crt"), folder.resolve("raw.key"));
    }

    private static void acceptRaw() {
        try {
            while (true) {
                try (Socket caller = rawUpstream.accept()) {
                    caller.getInputStream().read();
                    caller.getOutputStream().write("routed".getBytes(StandardCharsets.US_ASCII));
                    caller.shutdownOutput();
                    caller.getInputStream().readAllBytes();
                }
            }
        } catch (IOException e) {
            // closed: the test is over
        }
    }

    @AfterAll
    static void stop() throws Exception {
        controlPlane.stop(Duration.ZERO).block(TIME);
        appProxy.stop(Duration.ZERO).block(TIME);
        router.stop(Duration.ZERO).block(TIME);
        platform.close();
        upstream.close();
        rawUpstream.close();
    }

    /** What a listener answered to a case. */
    private record Judged(String answer, boolean isExpected) {
        static Judged of(List<String> answers, boolean isExpected) {
            return new Judged(String.join(", ", answers), isExpected);
        }
    }

    @Test
    void noPastFaultIsRepeatedByAnyListener() throws Exception {
        List<CorpusCase> cases = Stream
                .concat(CorpusCase.all("").stream(), CorpusCase.all(FOLDER, "").stream())
                .filter(given -> !given.source().isEmpty())
                .toList();
        List<String> others = new ArrayList<>();
        List<String> table = new ArrayList<>();
        int judged = 0;
        try (Honest honest = new Honest();
                ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
                ExecutorService single = Executors.newSingleThreadExecutor()) {
            Map<CorpusCase, Map<String, Future<Judged>>> answers = new LinkedHashMap<>();
            for (CorpusCase given : cases) {
                // a tunnel listener lets few clients open their sessions at the same time
                ExecutorService by = given.file().startsWith("websocket") ? single : callers;
                Map<String, Future<Judged>> row = new LinkedHashMap<>();
                listeners(given).forEach(name -> row.put(name, by.submit(() -> judge(given, name))));
                answers.put(given, row);
            }
            for (CorpusCase given : cases) {
                var line = new StringBuilder(given + " | " + given.source());
                Map<String, Future<Judged>> row = Objects.requireNonNull(answers.get(given));
                for (String listener : LISTENERS.keySet()) {
                    Future<Judged> told = row.get(listener);
                    Judged verdict = told == null ? new Judged("–", true) : told.get();
                    judged += told == null ? 0 : 1;
                    line.append(" | ").append(verdict.isExpected ? "" : "! ").append(verdict.answer);
                    if (!verdict.isExpected) {
                        others.add(
                                listener + ": " + given + ": " + verdict.answer + ", not " + given.answers());
                    }
                }
                table.add(line.toString());
            }
            honest.requireServed();
        }
        report(table, cases.size() + " cases, " + judged + " answers, " + others.size() + " unexpected");
        assertThat(others).isEmpty();
        assertThat(upstream.violations).isEmpty();
        assertThat(upstream.whole.stream().map(Object::toString))
                .noneMatch(seen -> seen.contains(" /cut") || seen.startsWith("GET /smuggled"));
    }

    private static void report(List<String> table, String sum) throws IOException {
        List<String> lines = new ArrayList<>(table);
        lines.addFirst("case | source | " + String.join(" | ", LISTENERS.keySet()));
        lines.add(sum);
        Files.write(Path.of("target", "past-faults.txt"), lines);
        System.out.println(sum);
    }

    private static List<String> listeners(CorpusCase given) {
        return switch (given.file().split("[-.]", 2)[0]) {
            case "h1" -> LISTENERS.keySet().stream().filter(name -> !name.equals("tcp")).toList();
            case "h2" -> List.of("edge", "router");
            case "tls" -> List.of("edge", "tunnel", "tcp");
            case "websocket" -> List.of("tunnel");
            default -> throw new IllegalStateException(given.file());
        };
    }

    private static Judged judge(CorpusCase given, String listener) throws IOException {
        int port = Objects.requireNonNull(LISTENERS.get(listener));
        return switch (given.file()) {
            case "h1-cut.txt" -> cut(given, listener, port);
            case "h2-floods.txt" -> flood(given, listener, port);
            case "tls.txt" -> tls(given, listener, port);
            case "websocket.txt" -> alike(given, WebSocketFault.answer(given, port));
            default -> given.file().startsWith("h1")
                    ? http1(given, listener, port)
                    : http2(given, listener, port);
        };
    }

    private static Judged alike(CorpusCase given, String answer) {
        return new Judged(answer, answer.startsWith(given.answers().getFirst()));
    }

    private static Socket connect(String listener, int port, String protocol) throws IOException {
        return switch (listener) {
            case "edge", "tunnel" -> new TlsCaller(port, null, protocol).socket();
            default -> new Socket(InetAddress.getLoopbackAddress(), port);
        };
    }

    private static String host(String listener) {
        return listener.equals("tunnel") ? "localhost" : HOST;
    }

    private static Judged http1(CorpusCase given, String listener, int port) throws IOException {
        List<String> answers = ListenerVerdict.answers(given, connect(listener, port, "http/1.1"),
                host(listener), false);
        boolean alike = listener.equals("tunnel")
                ? ListenerVerdict.isTunnels(given, answers)
                : ListenerVerdict.isAsAtTheEdge(given, answers);
        return Judged.of(answers, alike || ListenerExceptions.isMeant(given, listener, answers));
    }

    /** Nothing of a request that is not whole may be answered as if it were: the connection ends. */
    private static Judged cut(CorpusCase given, String listener, int port) throws IOException {
        List<String> answers = ListenerVerdict.answersToHalf(given, connect(listener, port, "http/1.1"),
                host(listener));
        return Judged.of(answers, answers.stream().allMatch(answer -> answer.startsWith("4")));
    }

    private static Judged http2(CorpusCase given, String listener, int port) throws IOException {
        try (CorpusHttp2 caller = new CorpusHttp2(connect(listener, port, "h2"), HOST)) {
            List<String> answers = caller.answers(given);
            List<String> expected = CorpusRun.expectedRouted(given);
            return Judged.of(answers, listener.equals("edge")
                    ? answers.equals(expected)
                    : kinds(answers).equals(kinds(expected)));
        }
    }

    /** A router knows no hosts: what is refused is refused alike, and the rest is answered. */
    private static List<String> kinds(List<String> answers) {
        return answers.stream()
                .map(answer -> answer.matches("(reset|goaway) .*") || ListenerVerdict.isRefusal(answer)
                        ? answer
                        : answer.matches("[2-4]\\d\\d.*") ? "answered" : answer)
                .sorted()
                .toList();
    }

    private static Judged flood(CorpusCase given, String listener, int port) throws IOException {
        try (CorpusHttp2 caller = new CorpusHttp2(connect(listener, port, "h2"), HOST)) {
            List<String> answers = caller.flood(given);
            return Judged.of(answers, given.answers()
                    .stream()
                    .allMatch(expected -> Stream.of(expected.split(" or ")).anyMatch(answers::contains)));
        }
    }

    private static Judged tls(CorpusCase given, String listener, int port) throws IOException {
        String answer = TlsFault.answer(given, port, RAW_HOST,
                listener.equals("edge") ? new String[]{"TLSv1.2"} : new String[0]);
        String[] expected = given.answers()
                .stream()
                .filter(told -> told.startsWith(listener + " "))
                .findFirst()
                .orElseThrow()
                .substring(listener.length() + 1)
                .split(" or ");
        return new Judged(answer, Arrays.asList(expected).contains(answer));
    }

    /** Callers that keep the rules, on connections of their own: each is served at all times. */
    private static final class Honest implements AutoCloseable {
        private final ScheduledExecutorService pace = Executors.newSingleThreadScheduledExecutor();
        private final ConnectionProvider connections = ConnectionProvider.newConnection();
        private final List<String> failures = new ArrayList<>();
        private int served;

        Honest() {
            HttpClient atEdge = platform.caller("acme", "prod", connections);
            HttpClient atRouter = HttpClient.create(connections).baseUrl("http://" + router.address());
            var _ = pace.scheduleWithFixedDelay(() -> {
                call(atEdge);
                call(atRouter);
            }, 0, HONEST_PACE.toMillis(), TimeUnit.MILLISECONDS);
        }

        private synchronized void call(HttpClient caller) {
            try {
                int status = Objects.requireNonNull(caller.get().uri("/honest").response().block(TIME))
                        .status()
                        .code();
                if (status != 200) {
                    failures.add("status " + status);
                }
            } catch (RuntimeException e) {
                failures.add(e.toString());
            }
            served++;
        }

        synchronized void requireServed() {
            assertThat(failures).isEmpty();
            assertThat(served).isPositive();
        }

        @Override
        public void close() {
            pace.shutdownNow();
            connections.dispose();
        }
    }
}
