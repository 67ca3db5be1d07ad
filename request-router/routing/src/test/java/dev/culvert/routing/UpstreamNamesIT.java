package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.WireProblem;
import dev.culvert.relay.outbound.UpstreamResolver;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.route.AllowList;
import dev.culvert.relay.route.RouteQuery;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamTrust;
import dev.culvert.routing.RoutingConfig.Policy;
import dev.culvert.routing.RoutingConfig.Reach;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.handler.ssl.SslContextBuilder;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Names of upstreams: a real DNS server, real sockets on several addresses of 127.0.0.0/8. */
class UpstreamNamesIT {
    private static final String NAME = "echo.test.svc.cluster.local";

    private final EventLoops loops = EventLoops.create(1);
    private final DnsServer dns = new DnsServer();
    private final List<DisposableServer> upstreams = new ArrayList<>();
    private int port;
    private @Nullable Router router;

    @TempDir
    private Path folder;

    UpstreamNamesIT() {
        Leaks.watch();
        for (String host : List.of("127.0.0.1", "127.0.0.2", "127.0.0.3")) {
            DisposableServer started = HttpServer.create()
                    .host(host)
                    .port(port)
                    .handle((request, response) -> response.sendString(Mono.just(host)))
                    .bindNow();
            port = started.port();
            upstreams.add(started);
        }
    }

    @AfterEach
    void stop() {
        if (router != null) {
            router.close();
            Leaks.assertNone(router::bufferedBytes, router::openConnections);
        }
        upstreams.forEach(DisposableServer::disposeNow);
        dns.close();
        loops.dispose();
    }

    private Router router(String to, Map<String, List<HostPort>> table) {
        router = Router.create(config(to, table),
                new UpstreamLimits(64, 32, 16, 16, Duration.ofSeconds(3), Loopback.LONG, Loopback.LONG));
        return router;
    }

    private RoutingConfig config(String to, Map<String, List<HostPort>> table) {
        return new RoutingConfig(List.of(RouteConfig.of("/", to)), List.of(), Policy.refusing(), table)
                .reaching(new Reach(null, List.of(dns.address())));
    }

    private Asker ask(Router from) {
        return new Asker(from, loops.group().next()).get("/");
    }

    /** Who answers so many requests, one after the other. */
    private Map<String, Integer> answers(Router from, int times) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < times; i++) {
            Asker asker = ask(from).awaitEnd();
            counts.merge(asker.status() + " " + asker.body(), 1, Integer::sum);
        }
        return counts;
    }

    @Test
    void requestsAreSpreadOverTheAddressesOfAName() {
        dns.tell(NAME, 60, "127.0.0.1", "127.0.0.2", "127.0.0.3");

        Map<String, Integer> answers = answers(router("http://" + NAME + ":" + port, Map.of()), 60);

        assertThat(answers.keySet()).isEqualTo(Set.of("200 127.0.0.1", "200 127.0.0.2", "200 127.0.0.3"));
        assertThat(dns.asked(NAME)).isEqualTo(1);
    }

    @Test
    void anAddressThatIsDownCostsNoRequestAndIsLeftOut() {
        dns.tell(NAME, 60, "127.0.0.1", "127.0.0.9");
        Router over = router("http://" + NAME + ":" + port, Map.of());

        assertThat(answers(over, 40)).containsOnlyKeys("200 127.0.0.1");

        assertThat(over.ejectedAddresses()).isEqualTo(1);
    }

    @Test
    void anAddressThatComesBackServesAgain() {
        upstreams.get(1).disposeNow();
        dns.tell(NAME, 60, "127.0.0.1", "127.0.0.2");
        Router over = router("http://" + NAME + ":" + port, Map.of());
        assertThat(answers(over, 40)).containsOnlyKeys("200 127.0.0.1");

        upstreams.set(1, HttpServer.create()
                .host("127.0.0.2")
                .port(port)
                .handle((request, response) -> response.sendString(Mono.just("back")))
                .bindNow());

        Awaitility.await()
                .atMost(Duration.ofSeconds(15))
                .until(() -> answers(over, 5).containsKey("200 back"));
        assertThat(over.ejectedAddresses()).isZero();
    }

    @Test
    void aNameThatDoesNotExistIsAProblemAndAskedForOnce() {
        Router over = router("http://nothing.test:80", Map.of());

        for (int i = 0; i < 5; i++) {
            assertThat(ask(over).awaitProblem()).satisfies(problem -> {
                assertThat(problem.cause()).isEqualTo(Cause.UPSTREAM_REFUSED);
                assertThat(problem.detail()).contains("does not resolve");
            });
        }

        assertThat(dns.asked("nothing.test")).isEqualTo(1);
    }

    /** The inbox gives up an event source sooner if DNS does not know its name. */
    @Test
    void onlyANameOfCallersThatDnsDoesNotKnowIsToldToBeUnknown() {
        var routes = List.of(RouteConfig.of("/t/{tenant}/", "http://web.{tenant}.svc"),
                RouteConfig.of("/", "http://nothing.test"));
        Router over = Router.create(new RoutingConfig(routes, List.of(), Policy.refusing(), Map.of())
                .reaching(new Reach(null, List.of(dns.address()))),
                new UpstreamLimits(64, 32, 16, 16, Duration.ofSeconds(1), Loopback.LONG, Loopback.LONG));
        router = over;

        assertThat(problem(over, "/")).isNotEqualTo(WireProblem.NO_NAME);
        assertThat(problem(over, "/t/acme/")).isEqualTo(WireProblem.NO_NAME);
        assertThat(problem(over, "/t/acme/")).as("from the cache").isEqualTo(WireProblem.NO_NAME);
        dns.failing(true);
        assertThat(problem(over, "/t/other/")).isNotEqualTo(WireProblem.NO_NAME)
                .extracting(Problem::detail)
                .asString()
                .isEqualTo("the upstream's name does not resolve");
        dns.silent(true);
        assertThat(problem(over, "/t/third/")).isNotEqualTo(WireProblem.NO_NAME);
    }

    private Problem problem(Router from, String path) {
        return new Asker(from, loops.group().next()).get(path).awaitProblem();
    }

    @Test
    void aServiceThatMovesIsFoundWithinItsTtl() {
        dns.tell(NAME, 1, "127.0.0.1");
        Router over = router("http://" + NAME + ":" + port, Map.of());
        assertThat(answers(over, 3)).containsOnlyKeys("200 127.0.0.1");

        dns.tell(NAME, 1, "127.0.0.2");

        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() -> answers(over, 1).containsKey("200 127.0.0.2"));
        assertThat(answers(over, 10)).containsOnlyKeys("200 127.0.0.2");
    }

    @Test
    void anAnswerOfTheDnsServerBeforeAReloadIsNotUsedAfterIt() {
        String to = "http://" + NAME + ":" + port;
        dns.tell(NAME, 60, "127.0.0.1");
        dns.hold();
        Router over = router(to, Map.of());
        Asker asker = ask(over);
        Awaitility.await().until(() -> dns.asked(NAME) > 0);

        over.replace(config(to, Map.of(NAME, List.of(new HostPort("127.0.0.2", port)))), "test");
        dns.release();

        assertThat(asker.awaitEnd().body()).isEqualTo("127.0.0.2");
        assertThat(answers(over, 5)).containsOnlyKeys("200 127.0.0.2");
    }

    @Test
    void whileDnsIsSilentTheLastAddressesServe() {
        dns.tell(NAME, 1, "127.0.0.1");
        Router over = router("http://" + NAME + ":" + port, Map.of());
        assertThat(answers(over, 1)).containsOnlyKeys("200 127.0.0.1");
        dns.silent(true);

        int before = dns.asked(NAME);
        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> {
            assertThat(answers(over, 1)).containsOnlyKeys("200 127.0.0.1");
            return dns.asked(NAME) > before;
        });

        assertThat(answers(over, 5)).containsOnlyKeys("200 127.0.0.1");
    }

    /** A pod's resolv.conf has several search domains, and ndots:5. */
    @ParameterizedTest
    @CsvSource({"http://push-eventsource-svc.argo.svc.cluster.local,1", "http://web.{tenant}.svc,1",
            "http://web.acme.svc,2"})
    void namesOfServicesAndThoseThatCallersFillAreNotSoughtInSearchDomains(String to, String last)
            throws Exception {
        var route = new Route(RouteConfig.of("/t/{tenant}/", to));
        var match = (RouteMatch.Forward) route.forward(RouteQuery.of("GET", "h", "/t/acme/x"),
                AllowList.parse(List.of()), () -> null);
        dns.tell(match.address().host(), 60, "127.0.0.1");
        dns.tell(match.address().host() + ".wild.test", 60, "127.0.0.2");
        EventLoop loop = loops.group().next();
        var shared = new Upstreams(UpstreamLimits.defaults(),
                new UpstreamNames(Map.of(),
                        List.of(new InetSocketAddress(dns.address().host(), dns.address().port()))),
                UpstreamTrust.NONE);
        boolean epoll = ((IoEventLoop) loop).isCompatible(EpollIoHandle.class);
        var resolver = new UpstreamResolver(shared, loop, epoll, 3000, List.of("wild.test"));
        var found = new CompletableFuture<List<InetSocketAddress>>();

        loop.execute(() -> resolver.resolve(match.address(), answer -> found.complete(answer.addresses())));

        assertThat(found.get(20, TimeUnit.SECONDS))
                .extracting(address -> address.getAddress().getHostAddress())
                .containsExactly("127.0.0." + last);
        loop.submit(resolver::close).get();
    }

    @Test
    void aTableMayListSeveralAddresses() {
        Router over = router("http://static.test",
                Map.of("static.test", List.of(new HostPort("127.0.0.2", port),
                        new HostPort("127.0.0.3", port), new HostPort("127.0.0.9", port))));

        Set<String> seen = new TreeSet<>();
        Awaitility.await().until(() -> {
            seen.addAll(answers(over, 5).keySet());
            return seen.size() > 1;
        });

        assertThat(seen).containsExactly("200 127.0.0.2", "200 127.0.0.3");
        assertThat(dns.asked("static.test")).isZero();
    }

    @Test
    void certificatesOfUpstreamsMayComeFromTheClustersAuthorityOrTheRoutesOwn() throws Exception {
        CertificateAuthority usual = authority("usual");
        CertificateAuthority own = authority("own");
        int usualPort = secured(usual);
        int ownPort = secured(own);
        Path ofRoute = folder.resolve("own.crt");
        var routes = List.of(RouteConfig.of("/usual/", "https://up.test:" + usualPort),
                RouteConfig.of("/wrong/", "https://up.test:" + ownPort),
                new RouteConfig("/own/", "https://up.test:" + ownPort, null, List.of(), Map.of(), false, null,
                        null, null, null, RouteConfig.Order.SOURCE, null, null, null, 0, List.of(),
                        new RouteConfig.Tls(ofRoute)));
        dns.tell("up.test", 60, "127.0.0.1");
        router = Router.create(new RoutingConfig(routes, List.of(), Policy.refusing(), Map.of())
                .reaching(new Reach(folder.resolve("usual.crt"), List.of(dns.address()))));

        assertThat(new Asker(router, loops.group().next()).get("/usual/x").awaitEnd().status())
                .isEqualTo("200");
        assertThat(new Asker(router, loops.group().next()).get("/own/x").awaitEnd().status())
                .isEqualTo("200");
        assertThat(new Asker(router, loops.group().next()).get("/wrong/x").awaitProblem().cause())
                .isEqualTo(Cause.UPSTREAM_TLS);
    }

    private CertificateAuthority authority(String name) {
        CertificateAuthority made = CertificateAuthority.create(name, Clock.systemUTC());
        made.writeTo(folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
        return made;
    }

    private int secured(CertificateAuthority by) throws Exception {
        TlsMaterial material = by.issueServer(List.of("up.test"), List.of(), Duration.ofHours(1));
        var tls = SslContextBuilder
                .forServer(material.key(), material.chain().toArray(new X509Certificate[0]))
                .build();
        DisposableServer started = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .secure(spec -> spec.sslContext(tls))
                .handle((request, response) -> response.sendString(Mono.just("secured")))
                .bindNow();
        upstreams.add(started);
        return started.port();
    }
}
