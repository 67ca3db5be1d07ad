package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import dev.culvert.routing.RoutingChanges.Change;
import dev.culvert.routing.RoutingConfig.Policy;
import dev.culvert.routing.RoutingConfig.Reach;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RoutingChangesTest {
    private static final RoutingConfig PLAIN = config(RouteConfig.of("/a/", "http://a"),
            RouteConfig.of("/b/", "http://b"));

    private static RoutingConfig config(RouteConfig... routes) {
        return new RoutingConfig(List.of(routes), List.of(), Policy.refusing(), Map.of());
    }

    @Test
    void whatIsTheSameIsNoChange() {
        assertThat(RoutingChanges.between(PLAIN, config(RouteConfig.of("/a/", "http://a"),
                RouteConfig.of("/b/", "http://b")))).isEmpty();
    }

    @Test
    void anotherOrderIsOne() {
        assertThat(RoutingChanges.between(PLAIN, config(RouteConfig.of("/b/", "http://b"),
                RouteConfig.of("/a/", "http://a")))).containsExactly(
                        new Change("routes",
                                "2 now, 0 added, 0 removed, 0 changed: in another order"));
    }

    @Test
    void routesAreNamedWithTheirUpstreams() {
        RoutingConfig now = config(new RouteConfig("/a/", "http://a", true, null, null, null),
                RouteConfig.of("/b/", "http://elsewhere"));

        assertThat(RoutingChanges.between(PLAIN, now)).containsExactly(new Change("routes",
                "2 now, 1 added, 1 removed, 1 changed: + /b/ → http://elsewhere, - /b/ → http://b, * /a/ → http://a"));
    }

    @Test
    void manyAreCountedAndSomeNamed() {
        RoutingConfig now = config(IntStream.range(0, 500)
                .mapToObj(i -> RouteConfig.of("/x" + i + "/", "http://x"))
                .toArray(RouteConfig[]::new));

        assertThat(RoutingChanges.between(config(), now)).singleElement().satisfies(change -> {
            assertThat(change.detail())
                    .startsWith("500 now, 500 added, 3 removed, 0 changed: + /x0/ → http://x, ")
                    .contains("+ /x9/ → http://x, + …, - /app-proxy/ → ")
                    .doesNotContain("/x10/");
        });
    }

    @Test
    void eachKeyIsTold() {
        HostPort port = new HostPort("127.0.0.1", 1);
        RoutingConfig now = new RoutingConfig(PLAIN.routes(), List.of(TcpRouteConfig.named("db", port)),
                Policy.allowing(List.of("argo/*")), Map.of("x", List.of(port))).behind(List.of("10.0.0.0/8"))
                .reaching(new Reach(Path.of("ca.crt"), List.of()));

        List<Change> changes = RoutingChanges.between(PLAIN, now);

        assertThat(changes).extracting(Change::key)
                .containsExactly("policy", "tcp", "resolve", "trustedProxies", "upstreams");
        assertThat(changes).extracting(Change::detail)
                .contains("1 now, 1 added, 0 removed, 0 changed: + db → 127.0.0.1:1",
                        "1 now, 1 added, 0 removed, 0 changed: + x → [127.0.0.1:1]",
                        "1 now, 1 added, 0 removed, 0 changed: + 10.0.0.0/8",
                        "ca: ca.crt, dns: [], maxHeadBytes: 128KiB, maxHeadFields: 256, postQuantum: prefer");
    }
}
