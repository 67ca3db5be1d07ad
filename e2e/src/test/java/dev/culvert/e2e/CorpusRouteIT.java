package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import dev.culvert.relay.testing.CorpusCase;
import dev.culvert.relay.testing.CorpusRun;
import dev.culvert.relay.testing.SeenRequest;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The corpus of malformed requests through edge, tunnel and router, to an upstream with a strict parser of its own. */
class CorpusRouteIT {
    private static final Pattern BODIES = Pattern
            .compile("h1-(length|coding|chunks|trailers|pipelined).txt|h2-body.txt");
    private static final String HOST = "acme-prod." + Platform.DOMAIN;

    @TempDir
    static Path folder;

    private static StrictUpstream upstream;
    private static Platform platform;

    @BeforeAll
    static void start() throws Exception {
        upstream = new StrictUpstream();
        platform = Platform.start(folder);
        var router = new RoutingConfig(List.of(RouteConfig.of("/", "http://upstream.example")),
                RoutingConfig.Policy.refusing(),
                Map.of("upstream.example", HostPort.parse("127.0.0.1:" + upstream.port())));
        platform.connect(
                platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), null, router));
    }

    @AfterAll
    static void stop() throws Exception {
        platform.close();
        upstream.close();
    }

    @BeforeEach
    void forget() {
        upstream.whole.clear();
        upstream.violations.clear();
    }

    /** What gets past the head, or might; that other heads open nothing is CorpusIT's. */
    static List<CorpusCase> cases() {
        return CorpusCase.all("")
                .stream()
                .filter(given -> !given.upstream().isEmpty() || BODIES.matcher(given.file()).matches())
                .toList();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void reachesNoUpstreamInAFormThatReadsDifferently(CorpusCase given) {
        List<String> answers = CorpusRun.answers(given, platform.server.edgeAddress().port(), HOST);

        assertThat(answers).isEqualTo(CorpusRun.expectedRouted(given));
        assertThat(upstream.whole.stream().map(SeenRequest::toString))
                .containsExactlyInAnyOrderElementsOf(CorpusRun.upstreamRouted(given));
        assertThat(upstream.violations).isEmpty();
    }
}
