package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.client.TunnelClient;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.relay.testing.CorpusCase;
import dev.culvert.router.RouterConfig;
import dev.culvert.router.RouterServer;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The corpus of malformed requests at the listeners of HTTP/1.1: each gives the edge's verdict, and those of the handlers'
 * plane date their answers. The table of cases and
 * listeners is in the test's output, and in {@code target/listener-corpus.txt}.
 */
class ListenerCorpusIT {
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String HOST = "acme-prod." + Platform.DOMAIN;
    /** Callers at the same time; the cases of a listener follow one another on each. */
    private static final int CALLERS = 8;

    @TempDir
    static Path folder;

    private static StrictUpstream upstream;
    private static Platform platform;
    private static RouterServer router;
    private static AppProxy appProxy;
    private static ControlPlane controlPlane;
    private static final Map<String, Integer> LISTENERS = new LinkedHashMap<>();

    @BeforeAll
    static void start() throws Exception {
        upstream = new StrictUpstream();
        platform = Platform.start(folder, usual -> Listeners.plainEdge(usual, "127.0.0.1"));
        TunnelClient client = platform.connect("acme", "prod",
                URI.create("http://127.0.0.1:" + upstream.port()));
        router = Objects.requireNonNull(RouterServer.start(routed()).block(TIME));
        appProxy = Objects.requireNonNull(AppProxy.start(AppProxyConfig.of(ANY, "acme/prod",
                AppProxyConfig.Handlers.of(new AppProxyConfig.Info()))).block(TIME));
        controlPlane = Objects.requireNonNull(ControlPlane.start(ControlPlaneConfig.of(ANY,
                folder.resolve("plane"), ControlPlaneConfig.Nudge.none())).block(TIME));
        LISTENERS.put("edge", platform.server.edgeAddress().port());
        LISTENERS.put("router", router.address().port());
        LISTENERS.put("app-proxy", appProxy.address().port());
        LISTENERS.put("control-plane", controlPlane.address().port());
        LISTENERS.put("admin", platform.server.adminAddress().port());
        LISTENERS.put("client-health", Objects.requireNonNull(client.healthAddress()).port());
        LISTENERS.put("router-health", Objects.requireNonNull(router.healthAddress()).port());
    }

    @AfterAll
    static void stop() throws Exception {
        controlPlane.stop(Duration.ZERO).block(TIME);
        appProxy.stop(Duration.ZERO).block(TIME);
        router.stop(Duration.ZERO).block(TIME);
        platform.close();
        upstream.close();
    }

    private static RouterConfig routed() {
        var routes = List.of(RouteConfig.of("/", "http://127.0.0.1:" + upstream.port()));
        return RouterConfig.of(ANY, new RoutingConfig(routes, RoutingConfig.Policy.refusing(), Map.of()))
                .with(null, new RouterConfig.Health(ANY), null);
    }

    @Test
    void everyListenerGivesTheEdgesVerdict() throws Exception {
        List<CorpusCase> cases = CorpusCase.all("h1-");
        Map<String, List<Future<List<String>>>> answers = new LinkedHashMap<>();
        try (ExecutorService callers = Executors.newFixedThreadPool(CALLERS)) {
            LISTENERS.forEach((name, port) -> answers.put(name, cases.stream()
                    .map(given -> callers.submit(() -> ListenerVerdict.answers(given, port, HOST,
                            ListenerExceptions.HANDLERS.contains(name))))
                    .toList()));
        }

        List<String> table = new ArrayList<>();
        List<String> others = new ArrayList<>();
        Set<String> met = new TreeSet<>();
        for (int i = 0; i < cases.size(); i++) {
            CorpusCase given = cases.get(i);
            var row = new StringBuilder(given.toString());
            for (String listener : LISTENERS.keySet()) {
                List<String> got = Objects.requireNonNull(answers.get(listener)).get(i).get();
                boolean alike = ListenerVerdict.isAsAtTheEdge(given, got);
                boolean meant = !alike && ListenerExceptions.isMeant(given, listener, got);
                row.append(" | ").append(alike ? "" : meant ? "~ " : "! ").append(String.join(", ", got));
                if (meant) {
                    met.add(given.name());
                } else if (!alike) {
                    others.add(listener + ": " + given + ": " + got + ", not " + given.answers()
                            + (given.open() ? " open" : " close"));
                }
            }
            table.add(row.toString());
        }
        report(table);
        assertThat(others).isEmpty();
        assertThat(met).isEqualTo(ListenerExceptions.names(LISTENERS.keySet()));
    }

    private static void report(List<String> table) throws IOException {
        List<String> lines = new ArrayList<>(table);
        lines.addFirst("case | " + String.join(" | ", LISTENERS.keySet()));
        lines.add("~ is meant to differ: " + ListenerExceptions.reasons());
        Files.write(Path.of("target", "listener-corpus.txt"), lines);
        lines.forEach(System.out::println);
    }
}
