package dev.culvert.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RouteConfig.Cors;
import dev.culvert.routing.RouteConfig.Delivery;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import dev.culvert.routing.RoutingConfig.Webhooks;
import dev.culvert.routing.SingleUpstream;
import dev.culvert.routing.TcpRouteConfig;
import java.net.URI;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RouterConfigTest {
    @Test
    void nothingSetMeansTheDefaultRoutesAndNoWebhook() {
        RouterConfig config = ConfigBinder.bind(RouterConfig.class, Map.of());

        assertThat(config.listen()).isEqualTo(new HostPort("0.0.0.0", 8080));
        assertThat(config.dataDir()).isNull();
        assertThat(config.routing()).isEqualTo(RoutingConfig.defaults());
        assertThat(config.routing().effectiveRoutes()).extracting(RouteConfig::path)
                .containsExactly("/app-proxy/", "/workflows/", "/webhooks/{namespace}/{eventSource}/");
    }

    @Test
    void policyAndAddressesComeFromDottedKeys() {
        RoutingConfig config = ConfigBinder.bind(RoutingConfig.class,
                Map.of("policy.webhooks.allow", "argo/*,ci/github", "resolve.Push.Argo.svc",
                        "127.0.0.1:12000"));

        assertThat(config.policy()).isEqualTo(Policy.allowing(List.of("argo/*", "ci/github")));
        assertThat(config.resolve())
                .isEqualTo(Map.of("push.argo.svc", List.of(new HostPort("127.0.0.1", 12000))));
    }

    @Test
    void aBadEntryOfTheAllowListNamesItsKey() {
        assertThatThrownBy(
                () -> ConfigBinder.bind(RouterConfig.class, Map.of("policy.webhooks.allow", "argo")))
                .isInstanceOf(ConfigErrors.class)
                .hasMessageContaining("policy.webhooks.allow")
                .hasMessageContaining("namespace/eventSource");
    }

    @Test
    void theAdminListenerHasAnInboxAndLeavesLoopbackWithTlsOnly() {
        RouterConfig config = ConfigBinder.bind(RouterConfig.class,
                Map.of("admin.listen", "127.0.0.1:9092", "dataDir", "/data"));

        assertThat(Objects.requireNonNull(config.admin()).file()).isEqualTo(Path.of("/data/admin.token"));
        assertRefused(Map.of("admin.listen", "127.0.0.1:9092"), "dataDir", "where admin.listen is set");
        assertRefused(Map.of("admin.listen", "0.0.0.0:9092", "dataDir", "/data"), "admin.listen",
                "a loopback address");
        assertRefused(Map.of("admin.listen", "127.0.0.1:9092", "admin.hosts", "a:80", "dataDir", "/data"),
                "admin.hosts", "DNS names without port");
        assertThat(ConfigBinder.bind(RouterConfig.class,
                Map.of("admin.listen", "0.0.0.0:9092", "admin.tls.certificate", "a.crt", "admin.tls.key",
                        "a.key", "dataDir", "/data"))
                .admin()).isNotNull();
    }

    private static void assertRefused(Map<String, String> values, String key, String expected) {
        assertThatThrownBy(() -> ConfigBinder.bind(RouterConfig.class, values))
                .isInstanceOf(ConfigErrors.class)
                .hasMessageContaining(key)
                .hasMessageContaining(expected);
    }

    @Test
    void webhooksAreDurableUnlessTheRouteSaysOtherwise() {
        var direct = new RouteConfig("/webhooks/x/", "http://x", false, null, null, Delivery.DIRECT);

        assertThat(RouteConfig.of("/webhooks/x/", "http://x").durable()).isTrue();
        assertThat(RouteConfig.of("/x/", "http://x").durable()).isFalse();
        assertThat(direct.durable()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "/x", "x/", "//", "/x//", "//x/", "/../", "/./", "/a/../", "/%61/",
            "/a b/",
            "/{}/", "/{1}/", "/{a-b}/", "/{x}/{x}/", "/{namespace}/", "/{eventSource}/",
            "/a{namespace}/{eventSource}/",
            "/{namespace}/{namespace}/{eventSource}/", "/a?b/", "/a#b/", "/a\\b/", "/é/"})
    void refusesPathsThatCanNotBeMatchedRaw(String path) {
        assertThatThrownBy(() -> RouteConfig.of(path, "http://x")).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("path: expected a path as /x/");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "//x", "ftp://x", "http://", "http:///x", "http://u@x", "http://x?y",
            "http://x#y",
            "http://x:0", "http://x:70000", "http://x/../y", "http://x/%2e%2e", "http://x/{namespace}",
            "http://x:{namespace}", "http://-x", "http://{other}", "http://a b", "mailto:x",
            "{namespace}://x"})
    void refusesUpstreamsOfAnotherForm(String to) {
        assertThatThrownBy(() -> RouteConfig.of("/w/{namespace}/{eventSource}/", to))
                .isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("to: expected");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://x", "HTTPS://X.Example:8443/base/", "http://[::1]:80",
            "http://127.0.0.1"})
    void takesUpstreamsWithoutVariables(String to) {
        assertThat(RouteConfig.of("/x/", to).to()).isEqualTo(to);
    }

    @Test
    void variablesOfTheUpstreamMustStandInThePath() {
        assertThatThrownBy(() -> RouteConfig.of("/x/", "http://{eventSource}"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("those of path");
    }

    @Test
    void twoRoutesForTheSamePathAreRefused() {
        List<RouteConfig> routes = List.of(RouteConfig.of("/a/{namespace}/{eventSource}/", "http://x"),
                RouteConfig.of("/a/{eventSource}/{namespace}/", "http://y"));

        assertThatThrownBy(() -> new RoutingConfig(routes, Policy.refusing(), Map.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("routes[1].path: ");
    }

    @Test
    void moreThanTenThousandRoutesAreRefused() {
        List<RouteConfig> routes = Collections.nCopies(10_001, RouteConfig.of("/x/", "http://x"));

        assertThatThrownBy(() -> new RoutingConfig(routes, Policy.refusing(), Map.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("at most 10000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "/", "a/", "/b", "a/b/c", "A/b", "a.b/c", "a/b "})
    void refusesEntriesOfTheAllowListOfAnotherForm(String entry) {
        assertThatThrownBy(() -> new Webhooks(List.of(entry))).isInstanceOf(ConfigException.class);
    }

    @Test
    void originsAreComparedInLowerCaseAndHaveNoPath() {
        assertThat(new Cors(List.of("https://App.Example.com")).allowOrigins())
                .containsExactly("https://app.example.com");
        assertThatThrownBy(() -> new Cors(List.of("https://x/"))).isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> new Cors(List.of("*"))).isInstanceOf(ConfigException.class);
    }

    @Test
    void aHostHeaderMustBeAHost() {
        assertThatThrownBy(() -> new RouteConfig("/x/", "http://x", false, "a\r\nb: c", null, null))
                .isInstanceOf(ConfigException.class);
    }

    @Test
    void aRuntimeOlderThanTheRouterGetsThePathsThatItsIngressHad() {
        assertThat(paths("0.0.542")).containsExactly("/app-proxy/", "/webhooks/{namespace}/{eventSource}/");
        assertThat(paths("v0.0.9-beta")).hasSize(2);
        assertThat(paths("0.0.543")).hasSize(3);
        assertThat(paths("0.1.0")).hasSize(3);
        assertThat(paths("1.0.0-rc.1")).hasSize(3);
        assertThatThrownBy(() -> paths("0.542")).isInstanceOf(ConfigException.class)
                .hasMessageContaining("runtimeVersion");
    }

    private static List<String> paths(String version) {
        return RoutingConfig.defaults()
                .of(version)
                .effectiveRoutes()
                .stream()
                .map(RouteConfig::path)
                .toList();
    }

    @Test
    void anAddressToDialNeedsAPort() {
        var resolve = Map.of("x", new HostPort("127.0.0.1", 0));

        assertThatThrownBy(() -> new RoutingConfig(List.of(), Policy.refusing(), resolve))
                .isInstanceOf(ConfigException.class);
    }

    @Test
    void aSingleUpstreamNeedsAnHttpUrl() {
        assertThatThrownBy(() -> SingleUpstream.create(URI.create("ftp://x")))
                .isInstanceOf(ConfigException.class);
    }

    @Test
    void upstreamsOfRawConnectionsAreCheckedOneByOneAndTogether() {
        HostPort db = HostPort.parse("db:5432");

        assertThat(new TcpRouteConfig(null, "K8s.Example.com", db).host()).isEqualTo("k8s.example.com");
        assertRefused(() -> new TcpRouteConfig(null, null, db), "name");
        assertRefused(() -> new TcpRouteConfig("db", "db.example", db), "name");
        assertRefused(() -> new TcpRouteConfig("a.b", null, db), "name");
        assertRefused(() -> new TcpRouteConfig("-", null, db), "name");
        assertRefused(() -> new TcpRouteConfig(null, "a:1", db), "host");
        assertRefused(() -> TcpRouteConfig.named("db", HostPort.parse("db:0")), "to");
        assertRefused(() -> new RoutingConfig(List.of(),
                List.of(TcpRouteConfig.named("db", db), TcpRouteConfig.named("db", db)), Policy.refusing(),
                Map.of()), "tcp");
        assertRefused(() -> new RoutingConfig(List.of(),
                java.util.stream.IntStream.range(0, 1001)
                        .mapToObj(i -> TcpRouteConfig.named("db" + i, db))
                        .toList(),
                Policy.refusing(), Map.of()), "tcp");
    }

    private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable made,
            String key) {
        assertThatThrownBy(made).isInstanceOfSatisfying(ConfigException.class,
                e -> assertThat(e.key()).isEqualTo(key));
    }
}
