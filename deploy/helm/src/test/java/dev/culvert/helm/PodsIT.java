package dev.culvert.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.launcher.certs.CertsFolder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/**
 * The pods of the chart, started on this machine: traffic flows, probes pass, and callers see nothing of a
 * rolling update. By hand ({@code -Dculvert.pods=true}): a JVM for each of seven pods.
 */
@EnabledIfSystemProperty(named = "culvert.pods", matches = "true")
class PodsIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int CALLERS = 64;
    private static final GenericSslContextSpec<?> TRUSTING = Http11SslContextSpec.forClient()
            .configure(tls -> tls.trustManager(InsecureTrustManagerFactory.INSTANCE));

    @TempDir
    Path folder;

    private final KubernetesMockServer api = new KubernetesMockServer(new Context(), new MockWebServer(),
            new HashMap<>(),
            new KubernetesCrudDispatcher(), false);
    private final List<PodProcess> running = new ArrayList<>();
    private final Map<String, Path> secrets = new HashMap<>();
    private final ConnectionProvider connections = ConnectionProvider.create("callers", CALLERS);
    private final HttpClient http = HttpClient.create(connections)
            .secure(tls -> tls.sslContext(TRUSTING));
    private final AtomicInteger served = new AtomicInteger();
    private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
    private int pods;

    @BeforeEach
    void makeSecrets() throws Exception {
        Logger.getLogger("io.fabric8.mockwebserver").setLevel(Level.WARNING);
        api.start();
        secrets.put("culvert-server", Files.createDirectory(folder.resolve("certs")));
        new CertsFolder(folder.resolve("certs")).init("x.test");
        secrets.put("culvert-enrolment", Files.createDirectory(folder.resolve("enrolment")));
    }

    @AfterEach
    void stop() {
        running.forEach(PodProcess::close);
        connections.dispose();
        api.shutdown();
    }

    private static List<HasMetadata> objects(String values) throws Exception {
        return Chart.objects(Yaml.map(values));
    }

    private PodProcess start(List<HasMetadata> objects, String name) throws Exception {
        PodTemplateSpec template = Stream.concat(
                Chart.all(objects, Deployment.class)
                        .stream()
                        .filter(each -> each.getMetadata().getName().equals(name))
                        .map(each -> each.getSpec().getTemplate()),
                Chart.all(objects, StatefulSet.class)
                        .stream()
                        .filter(each -> each.getMetadata().getName().equals(name))
                        .map(each -> each.getSpec().getTemplate()))
                .findFirst()
                .orElseThrow();
        Path home = Files.createDirectory(folder.resolve("pod-" + ++pods));
        PodProcess pod = PodProcess.start(home, template, objects, secrets,
                Map.of("KUBERNETES_MASTER", "http://" + api.getHostName() + ":" + api.getPort(),
                        "KUBERNETES_AUTH_TRYKUBECONFIG", "false", "KUBERNETES_NAMESPACE", Chart.NAMESPACE));
        running.add(pod);
        return pod;
    }

    private String get(String url) {
        return http.get()
                .uri(url)
                .responseSingle((head, body) -> body.asString()
                        .defaultIfEmpty("")
                        .map(text -> head.status().code() + " " + text.strip()))
                .onErrorResume(error -> Mono.just(String.valueOf(error)))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private void awaitReady(PodProcess pod, String scheme, String listener, String text) {
        String url = scheme + "://" + pod.address(listener) + pod.readinessPath();
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(get(url)).startsWith("200").contains(text));
    }

    @Test
    void callersSeeNothingOfARollingUpdate() throws Exception {
        List<HasMetadata> platform = objects("server: { enabled: true, domain: x.test }");
        PodProcess server = start(platform, "culvert-server");
        awaitReady(server, "https", "admin", "");
        createRuntime(server.address("admin"));

        List<HasMetadata> runtime = objects("""
                global: { runtime: { name: prod, account: acme } }
                tunnel-client:
                  tunnelServer: { host: localhost, port: %s, subdomainHost: x.test }
                  serverCa: { secretKeyRef: { name: culvert-server, key: ca.crt } }
                """.formatted(port(server.address("tunnel"))));
        PodProcess proxy = start(runtime, "cap-app-proxy");
        awaitReady(proxy, "http", "listen", "");
        List<HasMetadata> resolved = objects("""
                global: { runtime: { name: prod, account: acme } }
                internal-router: { routing: { resolve: { cap-app-proxy: "%s" } } }
                tunnel-client:
                  tunnelServer: { host: localhost, port: %s, subdomainHost: x.test }
                  serverCa: { secretKeyRef: { name: culvert-server, key: ca.crt } }
                """.formatted(proxy.address("listen"), port(server.address("tunnel"))));
        try (KubernetesClient cluster = api.createClient()) {
            for (Secret secret : Chart.all(resolved, Secret.class)) {
                cluster.secrets().inNamespace(Chart.NAMESPACE).resource(secret).create();
            }
        }
        PodProcess first = start(resolved, "tunnel-client");
        awaitReady(first, "http", "health", "");
        PodProcess second = start(resolved, "tunnel-client");
        awaitReady(second, "http", "health", "waiting");

        Disposable load = load(server.address("edge"));
        awaitMore();
        for (PodProcess old : List.of(first, second)) {
            PodProcess surge = start(resolved, "tunnel-client");
            awaitReady(surge, "http", "health", "waiting");
            assertThat(old.terminate()).as(old.log()).isZero();
            awaitMore();
        }
        load.dispose();

        System.out.println(
                "rolling update of both replicas under " + CALLERS + " callers: " + served + " served, "
                        + failures.size() + " failed");
        assertThat(failures).isEmpty();
    }

    private static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** As {@code culvert runtime create} does, in a process of its own. */
    private void createRuntime(String admin) throws Exception {
        Path token = folder.resolve("pod-1/data/admin.token");
        Process command = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), "dev.culvert.launcher.Main", "runtime", "create",
                "acme", "prod",
                "--admin", "https://" + admin, "--admin-ca", folder.resolve("certs/ca.crt").toString(),
                "--admin-token-file", token.toString(), "--token-file",
                folder.resolve("enrolment/token").toString())
                .inheritIO()
                .start();
        assertThat(command.waitFor()).isZero();
    }

    private Disposable load(String edge) {
        HttpClient caller = http.headers(headers -> headers.set("host", "acme-prod.x.test"));
        return Flux.range(0, CALLERS)
                .flatMap(i -> Mono.defer(() -> caller.get()
                        .uri("https://" + edge + "/app-proxy/api/healthz")
                        .responseSingle((head, body) -> body.asString()
                                .defaultIfEmpty("")
                                .thenReturn(head.status().toString()))
                        .onErrorResume(error -> Mono.just(String.valueOf(error)))
                        .doOnNext(status -> {
                            if (status.startsWith("200")) {
                                served.incrementAndGet();
                            } else {
                                failures.add(status);
                            }
                        })).repeat(), CALLERS)
                .subscribe();
    }

    private void awaitMore() {
        int before = served.get();
        await().atMost(PATIENCE).until(() -> served.get() > before + 500 || !failures.isEmpty());
    }
}
