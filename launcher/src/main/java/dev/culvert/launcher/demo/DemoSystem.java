package dev.culvert.launcher.demo;

import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.access.ControlPlaneSettings;
import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.appproxy.argo.workflow.WorkflowsSettings;
import dev.culvert.appproxy.commits.CommitsSettings;
import dev.culvert.appproxy.credentials.TokensConfig;
import dev.culvert.appproxy.repositories.IntegrationConfig;
import dev.culvert.appproxy.repositories.RepositoriesConfig;
import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.launcher.admin.AdminClient;
import dev.culvert.launcher.certs.CertsFolder;
import dev.culvert.server.ServerConfig;
import dev.culvert.server.TunnelServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * All services and their upstreams in one process, connected by real sockets on 127.0.0.1, with a temporary
 * folder that is removed at the stop. The account is {@code demo} and the runtime {@code local}; a second
 * runtime, {@code idle}, never connects.
 */
public final class DemoSystem {
    static final String DOMAIN = "culvert.localhost";
    /** The control plane's: without a hyphen, so no runtime's. */
    static final String PLATFORM_HOST = "platform." + DOMAIN;
    private static final HostPort ANY_PORT = new HostPort("127.0.0.1", 0);
    private static final Duration CONNECTS_WITHIN = Duration.ofSeconds(20);
    private static final Duration ASK_EVERY = Duration.ofMillis(100);

    private final EventLoops loops = EventLoops.create(1);
    private final DemoClosers closers = new DemoClosers();
    private final DemoEventSource eventSource = new DemoEventSource();
    private volatile DemoPorts ports;
    private volatile @Nullable DemoCluster cluster;
    private final TemporaryFolder folder;
    private final boolean withGit = Git.isThere();
    private final CertsFolder certs;

    private DemoSystem(DemoPorts ports, TemporaryFolder folder) {
        this.ports = ports;
        this.folder = folder;
        this.certs = new CertsFolder(folder.path());
        closers.add(grace -> onElastic(() -> {
            folder.remove();
            return folder;
        }).then());
        closers.add(grace -> loops.disposeLater(Duration.ZERO, grace));
    }

    /** Creates a demo of which only the folder exists. */
    public static Mono<DemoSystem> create(DemoPorts ports) {
        return onElastic(() -> new DemoSystem(ports, TemporaryFolder.create()));
    }

    /**
     * Starts all services and waits until the client is connected. Emits this. Errors: {@link DemoException},
     * and those of the services ({@link dev.culvert.http.net.ListenException} if a port is taken); then no
     * service is left running.
     */
    public Mono<DemoSystem> start() {
        return onElastic(this::prepare).then(startUpstreams())
                .then(Mono.defer(this::connected))
                .thenReturn(this)
                .onErrorResume(failure -> stop(Duration.ZERO).then(Mono.error(failure)));
    }

    /** Stops all services in reverse order. Completes when the folder is removed. Never fails. */
    public Mono<Void> stop(Duration grace) {
        return closers.close(grace);
    }

    /** The address of the callers' listener. */
    public HostPort edge() {
        return ports.edge();
    }

    /** The address of the admin API. */
    public HostPort admin() {
        return ports.admin();
    }

    /** The host of the connected runtime. */
    public String host() {
        return "demo-local." + DOMAIN;
    }

    /** The certificate that callers have to trust. */
    public Path ca() {
        return certs.caCertificate();
    }

    /** The temporary folder. */
    public Path folder() {
        return folder.path();
    }

    /** The commands to paste into another terminal. */
    public String pasteLines() {
        return new PasteLines(edge(), admin(), host(), PLATFORM_HOST, ca(), folder(),
                System.getProperty("culvert.script", "./culvert")).text();
    }

    /** Runs all checks one after the other and emits their results. */
    public Flux<DemoCheck.Result> check() {
        return Flux.using(() -> new DemoCaller(edge(), ca(), loops),
                caller -> Flux.fromIterable(checks(caller)).concatMap(DemoCheck::run, 1), DemoCaller::close)
                .subscribeOn(Schedulers.boundedElastic());
    }

    private List<DemoCheck> checks(DemoCaller caller) {
        var traffic = new TrafficChecks(caller, eventSource, host(), "demo-idle." + DOMAIN,
                "nobody-here." + DOMAIN, PLATFORM_HOST);
        String target = host() + ":" + edge().port();
        List<String> reach = List.of("-c", "http.sslCAInfo=" + ca(), "-c",
                "http.curloptResolve=" + target + ":127.0.0.1");
        var git = new GitChecks(folder.path(), folder.path().resolve("git/demo.git"),
                "https://" + target + "/app-proxy/git/demo.git", reach);
        var all = new ArrayList<>(traffic.all());
        all.addAll(withGit
                ? git.all()
                : List.of(new DemoCheck("git", Mono.just("left out, with commits: git is not on the PATH"))));
        all.add(new TriggerChecks(caller, PLATFORM_HOST, folder.path()).push());
        all.addAll(new AppProxyChecks(caller, host(), folder.path(), folder.path().resolve("git/demo.git"),
                Objects.requireNonNull(cluster)).all(withGit));
        return all;
    }

    private Path prepare() {
        certs.init(DOMAIN);
        return withGit ? DemoRepository.create(folder.path(), folder.path().resolve("git")) : folder.path();
    }

    private Mono<Void> startUpstreams() {
        return DemoWorkflows.start(loops)
                .doOnNext(closers::addServer)
                .flatMap(workflows -> eventSource.start(loops)
                        .doOnNext(closers::addServer)
                        .flatMap(webhooks -> startParts(DemoWorkflows.address(workflows),
                                DemoEventSource.address(webhooks))));
    }

    private Mono<Void> startParts(HostPort workflows, HostPort webhooks) {
        return DemoPlatform.start(folder.path())
                .doOnNext(platform -> closers.add(platform::stop))
                .flatMap(platform -> TunnelServer.start(serverConfig(platform))
                        .doOnNext(this::started)
                        .then(startAppProxy(platform)))
                .flatMap(proxy -> createRuntimes()
                        .then(Mono.defer(() -> TunnelClient
                                .start(clientConfig(proxy.address(), workflows, webhooks), event -> {}))))
                .doOnNext(client -> closers.add(client::stop))
                .then();
    }

    /** Starts the App-Proxy and the cluster that it uses. */
    private Mono<AppProxy> startAppProxy(DemoPlatform platform) {
        return DemoCluster.start(loops, folder.path())
                .doOnNext(this::started)
                .flatMap(argo -> AppProxy.start(appProxyConfig(platform, argo)))
                .doOnNext(proxy -> closers.add(proxy::stop));
    }

    private void started(DemoCluster argo) {
        closers.add(grace -> argo.stop());
        cluster = argo;
    }

    private void started(TunnelServer server) {
        closers.add(server::stop);
        ports = new DemoPorts(server.edgeAddress(), server.tunnelAddress(), server.adminAddress());
    }

    private ServerConfig serverConfig(DemoPlatform platform) {
        return ConfigBinder.bind(ServerConfig.class,
                Map.ofEntries(Map.entry("edge.listen", ports.edge().toString()),
                        Map.entry("edge.domain", DOMAIN),
                        Map.entry("edge.platform.host", PLATFORM_HOST),
                        Map.entry("edge.platform.to", platform.url().toString()),
                        Map.entry("edge.tls.certificate", file("edge.crt")),
                        Map.entry("edge.tls.key", file("edge.key")),
                        Map.entry("tunnel.listen", ports.tunnel().toString()),
                        Map.entry("tunnel.tls.certificate", file("tunnel.crt")),
                        Map.entry("tunnel.tls.key", file("tunnel.key")),
                        Map.entry("tunnel.ca.certificate", file("ca.crt")),
                        Map.entry("tunnel.ca.key", file("ca.key")),
                        Map.entry("admin.listen", ports.admin().toString()),
                        Map.entry("admin.tokenFile", file("admin.token")),
                        Map.entry("dataDir", file("server"))));
    }

    private AppProxyConfig appProxyConfig(DemoPlatform platform, DemoCluster argo) {
        var kubernetes = new ApiSettings(argo.url(), argo.tokenFile(), null);
        var workflows = new WorkflowsSettings(null, kubernetes, "in-cluster", 64);
        AppProxyConfig.Handlers handlers = withGit
                ? withRepositories(workflows)
                : AppProxyConfig.Handlers.of(new AppProxyConfig.Info(), workflows);
        return AppProxyConfig.of(ANY_PORT, "demo/local", handlers)
                .with(ControlPlaneSettings.of(platform.url(), platform.runtimeKey(), null),
                        certs.file("audit"));
    }

    private AppProxyConfig.Handlers withRepositories(WorkflowsSettings workflows) {
        var git = new AppProxyConfig.Git(certs.file("git"), true, true, 32, Duration.ofHours(1));
        var repositories = RepositoriesConfig.of(List.of(IntegrationConfig.folder("demo", certs.file("git"))),
                TokensConfig.files(certs.file("git-tokens"), certs.file("git-tokens.key")));
        return AppProxyConfig.Handlers.of(new AppProxyConfig.Info(), git, repositories,
                CommitsSettings.of(certs.file("commits"), null), workflows);
    }

    private ClientConfig clientConfig(HostPort appProxy, HostPort workflows, HostPort webhooks) {
        return ConfigBinder.bind(ClientConfig.class,
                Map.of("server", "wss://" + ports.tunnel(), "serverCa", ca().toString(), "enrolmentTokenFile",
                        file("enrolment.token"), "identityDir", file("client"), "health.listen",
                        ANY_PORT.toString(), "router.policy.webhooks.allow", "demo/push",
                        "router.resolve.cap-app-proxy", appProxy.toString(), "router.resolve.argo-server",
                        workflows.toString(), "router.resolve.push-eventsource-svc.demo.svc.cluster.local",
                        webhooks.toString()));
    }

    private String file(String name) {
        return certs.file(name).toString();
    }

    private Mono<AdminClient> api() {
        return onElastic(() -> new AdminClient(URI.create("http://" + ports.admin()),
                Files.readString(certs.file("admin.token")).strip()));
    }

    private Mono<Void> createRuntimes() {
        return api().flatMap(api -> create(api, "idle").then(create(api, "local"))
                .flatMap(answer -> onElastic(() -> writeToken(answer.json().path("enrolmentToken").asText())))
                .then());
    }

    private static Mono<AdminClient.Answer> create(AdminClient api, String name) {
        return onElastic(() -> api.call("POST", "/runtimes",
                Map.of("account", "demo", "name", name, "hosts", List.of())))
                .filter(AdminClient.Answer::ok)
                .switchIfEmpty(
                        Mono.error(() -> new DemoException("the admin API refused to create demo/" + name)));
    }

    private Path writeToken(String token) throws IOException {
        return Secrets.write(certs.file("enrolment.token"), token);
    }

    private Mono<Void> connected() {
        return api().flatMap(api -> onElastic(() -> api.call("GET", "/runtimes/demo/local", null))
                .filter(answer -> answer.json().path("state").asText().equals("connected"))
                .repeatWhenEmpty(tries -> tries.delayElements(ASK_EVERY)))
                .timeout(CONNECTS_WITHIN, Mono.error(() -> new DemoException(
                        "the client did not connect within " + CONNECTS_WITHIN.toSeconds() + " s")))
                .then();
    }

    private static <T> Mono<T> onElastic(Callable<T> work) {
        return Mono.fromCallable(work).subscribeOn(Schedulers.boundedElastic());
    }
}
