package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.routing.RawUpstream.Peer;
import dev.culvert.routing.RouteConfig.Cors;
import dev.culvert.routing.RoutingConfig.Policy;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The default routes, with their names resolved to sockets of the test. */
class RouterIT {
    private final EventLoops loops = EventLoops.create(1);
    private final RawUpstream appProxy = new RawUpstream();
    private final RawUpstream workflows = new RawUpstream();
    private final RawUpstream push = new RawUpstream();
    private final Router router = Router
            .create(new RoutingConfig(List.of(), Policy.allowing(List.of("argo/*")),
                    Map.of("cap-app-proxy", at(appProxy), "argo-server:2746", at(workflows),
                            "Push-eventsource-svc.argo.svc.cluster.local", at(push))));

    private static HostPort at(RawUpstream upstream) {
        return new HostPort("127.0.0.1", upstream.port());
    }

    @AfterEach
    void nothingIsLeft() {
        router.close();
        Leaks.assertNone(router::bufferedBytes, router::openConnections);
        List.of(appProxy, workflows, push).forEach(RawUpstream::close);
        loops.dispose();
    }

    private Asker asker() {
        return new Asker(router, loops.group().next());
    }

    private static String requestLine(RawUpstream upstream, Asker asker) {
        String head = Loopback.answer(upstream.accept());
        asker.awaitEnd();
        return head.lines().findFirst().orElseThrow();
    }

    @Test
    void theRouterAnswersOptionsOfTheServer() {
        Asker asker = asker().open(Kind.HTTP, "OPTIONS", "*", true).awaitEnd();

        assertThat(asker.status()).isEqualTo("200");
        assertThat(asker.field("allow")).contains("GET");
    }

    @Test
    void everyDefaultRouteLeadsToItsUpstream() {
        assertThat(requestLine(appProxy, asker().get("/app-proxy/api/info?a=b")))
                .isEqualTo("GET /app-proxy/api/info?a=b HTTP/1.1");
        assertThat(requestLine(workflows, asker().get("/workflows/api/v1/x")))
                .isEqualTo("GET /api/v1/x HTTP/1.1");
        assertThat(requestLine(push, asker().get("/webhooks/argo/push/x//y?z")))
                .isEqualTo("GET /webhooks/argo/push/x//y?z HTTP/1.1");
    }

    @Test
    void theCallersHostCrosses() {
        Asker asker = asker().get("/app-proxy/");

        assertThat(Loopback.answer(appProxy.accept())).contains("\r\nHost: caller.example\r\n");
        asker.awaitEnd();
    }

    @Test
    void aRouteMayNameTheHost() {
        var route = new RouteConfig("/x/", "http://x:1", false, "inner.example:8080", null, null);
        var config = new RoutingConfig(List.of(route), Policy.refusing(), Map.of("x:1", at(appProxy)));
        try (Router own = Router.create(config)) {
            Asker asker = new Asker(own, loops.group().next()).get("/x/");

            assertThat(Loopback.answer(appProxy.accept())).contains("\r\nHost: inner.example:8080\r\n");
            asker.awaitEnd();
        }
    }

    @Test
    void originsAndRedirectsFollowARewrittenHost() {
        var route = new RouteConfig("/x/", "http://x:8080", false, "rewrite", null, null);
        var config = new RoutingConfig(List.of(route), Policy.refusing(), Map.of("x:8080", at(appProxy)));
        try (Router own = Router.create(config)) {
            Asker asker = new Asker(own, loops.group().next()).get("/x/", "origin", "https://caller.example");
            Peer peer = appProxy.accept();

            assertThat(peer.readHead()).containsIgnoringCase("\r\nhost: x:8080\r\n")
                    .containsIgnoringCase("\r\norigin: http://x:8080\r\n");
            peer.write(RawUpstream.head("HTTP/1.1 302 Found", "location: http://x:8080/in",
                    "content-length: 0"));
            asker.awaitEnd();
            assertThat(asker.field("location")).isEqualTo("https://caller.example/in");
        }
    }

    @Test
    void theKnownHolesAreClosed() {
        assertThat(asker().get("/webhooks/evil.example%3f/x").awaitProblem().cause())
                .isEqualTo(Cause.BAD_REQUEST);
        assertThat(asker().get("/app-proxy/../webhooks/a/b").awaitProblem().cause())
                .isEqualTo(Cause.BAD_REQUEST);
        assertThat(asker().get("/x/webhooks/a/b").awaitProblem().cause()).isEqualTo(Cause.NO_ROUTE);
        assertThat(requestLine(appProxy, asker().get("/app-proxy/webhooks/a/b")))
                .isEqualTo("GET /app-proxy/webhooks/a/b HTTP/1.1");
    }

    @Test
    void thePolicyRefusesWhatItDoesNotList() {
        Asker asker = asker().open(Kind.HTTP, "POST", "/webhooks/kube-system/push", false);

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.NOT_ALLOWED);
        assertThat(asker.awaitProblem().hop()).isEqualTo(Hop.ROUTER);
        asker.send("ignored").finish();
    }

    @Test
    void eventsOfWorkflowsArriveOneByOne() {
        Asker asker = asker().get("/workflows/events");
        Peer peer = workflows.accept();
        peer.readHead();
        peer.write(head("HTTP/1.1 200 OK", "content-type: text/event-stream"));

        peer.write("data: 1\n\n");
        asker.awaitBody("data: 1\n\n");
        peer.write("data: 2\n\n");
        asker.awaitBody("data: 1\n\ndata: 2\n\n");

        peer.close();
        asker.awaitEnd();
    }

    @Test
    void theAppProxyTakesUpgrades() {
        Asker asker = asker().open(Kind.UPGRADE, "GET", "/app-proxy/ws", false, "upgrade", "websocket");
        Peer peer = appProxy.accept();
        peer.readHead();
        peer.write(
                head("HTTP/1.1 101 Switching Protocols", "connection: upgrade", "upgrade: websocket") + "hi");

        asker.awaitBody("hi");
        asker.cancel();
    }

    @Test
    void anAwayAppProxyIsAProblemThatBrowsersMayRead() {
        appProxy.close();

        Asker asker = asker().get("/app-proxy/api", "origin", "https://any.example", "x-request-id", "abc");

        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("502");
        assertThat(asker.field("content-type")).isEqualTo("application/problem+json");
        assertThat(asker.body())
                .contains("\"type\":\"urn:culvert:problem:upstream-refused\"", "\"hop\":\"upstream\"",
                        "\"requestId\":\"abc\"")
                .doesNotContain("cap-app-proxy");
        assertThat(asker.field("content-length")).isEqualTo(Integer.toString(asker.body().length()));
        assertThat(asker.field("access-control-allow-origin")).isEqualTo("*");
        assertThat(asker.field("access-control-allow-credentials")).isNull();
        assertThat(asker.field("access-control-allow-methods")).isEqualTo("GET,HEAD,PUT,PATCH,POST,DELETE");
        assertThat(asker.field("access-control-allow-headers")).isEqualTo("content-type,x-access-token");
        assertThat(asker.field("vary")).isEqualTo("Origin");
    }

    @Test
    void anAwayAppProxyAllowsPreflights() {
        appProxy.close();

        Asker asker = asker().open(Kind.HTTP, "OPTIONS", "/app-proxy/api", true);

        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("204");
        assertThat(asker.body()).isEmpty();
        assertThat(asker.field("access-control-allow-origin")).isEqualTo("*");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no HTTP\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-le"})
    void anAppProxyThatBreaksOffOrTalksNonsenseAllowsPreflightsToo(String answer) {
        Asker asker = asker().open(Kind.HTTP, "OPTIONS", "/app-proxy/api", true);
        Peer peer = appProxy.accept();
        peer.readHead();
        peer.write(answer).close();

        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("204");
    }

    @Test
    void anAwayAppProxyTellsHeadWithoutABody() {
        appProxy.close();

        Asker asker = asker().open(Kind.HTTP, "HEAD", "/app-proxy/api", true);

        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("502");
        assertThat(asker.body()).isEmpty();
        assertThat(asker.field("content-length")).isNotEqualTo("0");
    }

    @Test
    void aKnownOriginMaySendCredentials() {
        var cors = new Cors(List.of("https://app.example.com"));
        var route = new RouteConfig("/app-proxy/", "http://away", false, null, cors, null);
        appProxy.close();
        var config = new RoutingConfig(List.of(route), Policy.refusing(), Map.of("away", at(appProxy)));
        try (Router own = Router.create(config)) {
            Asker known = new Asker(own, loops.group().next()).get("/app-proxy/", "origin",
                    "https://app.example.com");
            Asker other = new Asker(own, loops.group().next()).get("/app-proxy/", "origin",
                    "https://b.example.com");

            known.awaitEnd();
            other.awaitEnd();
            assertThat(known.field("access-control-allow-origin")).isEqualTo("https://app.example.com");
            assertThat(known.field("access-control-allow-credentials")).isEqualTo("true");
            assertThat(other.field("access-control-allow-origin")).isEqualTo("*");
            assertThat(other.field("access-control-allow-credentials")).isNull();
        }
    }

    @Test
    void aBodyForAnAwayAppProxyIsReleased() {
        appProxy.close();

        Asker asker = asker().open(Kind.HTTP, "POST", "/app-proxy/api", false).send("a body");

        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("502");
        asker.send("and more").finish();
        asker.awaitConsumed(14);
    }

    @Test
    void otherRoutesTellTheProblemAsItIs() {
        workflows.close();

        assertThat(asker().get("/workflows/").awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_REFUSED);
    }
}
