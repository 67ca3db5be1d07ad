package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.route.RouteQuery;
import dev.culvert.relay.route.Verification;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.routing.RouteMatch.Forward;
import dev.culvert.routing.RouteMatch.Refused;
import dev.culvert.routing.RoutingConfig.Policy;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

class RouteTableTest {
    private static final List<String> ALLOWED = List.of("argo/*", "ci/github", "team-*/push-*");

    @ParameterizedTest(name = "{0} → {1}")
    @CsvFileSource(resources = "/targets.txt", delimiter = '|')
    void aTargetLeadsWhereTheTableSays(String target, String expected) {
        RouteTable table = RouteTable.of(new RoutingConfig(List.of(), Policy.allowing(ALLOWED), Map.of()));

        assertThat(told(table, target)).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0} → {1}")
    @CsvFileSource(resources = "/targets-of-own-routes.txt", delimiter = '|')
    void theMostSpecificRouteWins(String target, String expected) {
        List<RouteConfig> routes = List.of(
                RouteConfig.of("/{namespace}/{eventSource}/", "http://{eventSource}.{namespace}:1"),
                RouteConfig.of("/a/", "http://a"), RouteConfig.of("/a/b/c/", "http://abc/base/"),
                RouteConfig.of("/a/b/", "https://ab"),
                new RouteConfig("/a/{namespace}/{eventSource}/", "http://{namespace}-{eventSource}:99/in",
                        true, null,
                        null, null),
                RouteConfig.of("/", "http://rest:8000"));
        RouteTable table = RouteTable
                .of(new RoutingConfig(routes, Policy.allowing(List.of("*/*")), Map.of()));

        assertThat(told(table, target)).isEqualTo(expected);
    }

    @Test
    void everyWebhookIsRefusedWhenNothingIsListed() {
        RouteTable table = RouteTable.of(RoutingConfig.defaults());

        assertThat(told(table, "/webhooks/argo/push")).isEqualTo("403 not-allowed router");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "post", "Post", "PUT", "CONNECT"})
    void aRouteThatVerifiesTakesPostsOnly(String method) {
        var verify = new RouteConfig.Verify(Verification.Provider.GITHUB, Path.of("secret"), false);
        var route = new RouteConfig("/in/", "http://in:1", null, List.of(), Map.of(), false, null, null, null,
                RouteConfig.Delivery.DURABLE, RouteConfig.Order.SOURCE, verify, null, null, 0, List.of());
        RouteTable table = RouteTable.of(new RoutingConfig(List.of(route), Policy.refusing(), Map.of()));

        assertThat(told(table, method, "/in/x")).isEqualTo("405 method-not-allowed router");
        assertThat(told(table, "POST", "/in/x")).isEqualTo("in:1 /in/x");
    }

    @Test
    void onlyRoutesToTlsUpstreamsNeedTls() {
        var tls = new RoutingConfig(List.of(RouteConfig.of("/x/", "https://x")), Policy.refusing(), Map.of());

        assertThat(RouteTable.of(tls).upstreams()).allMatch(UpstreamAddress::tls);
        assertThat(RouteTable.of(RoutingConfig.defaults()).upstreams()).noneMatch(UpstreamAddress::tls);
    }

    private static String told(RouteTable table, String target) {
        return told(table, "GET", target);
    }

    private static String told(RouteTable table, String method, String target) {
        return switch (table.match(RouteQuery.of(method, "caller.example", target), () -> null)) {
            case Forward forward -> (forward.address().tls() ? "tls " : "") + forward.address().host() + ":"
                    + forward.address().port() + " " + forward.target();
            case Refused refused ->
                refused.problem().cause().status() + " " + refused.problem().cause().word() + " "
                        + refused.problem().hop().word();
        };
    }
}
