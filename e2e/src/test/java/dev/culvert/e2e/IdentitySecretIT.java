package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.Standby;
import dev.culvert.client.identity.EnrolmentException;
import dev.culvert.client.identity.Identity;
import dev.culvert.client.identity.IdentitySource;
import dev.culvert.http.net.EventLoops;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Replicas of a client that have no disk, but one Kubernetes secret for their identity. */
class IdentitySecretIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final URI NOWHERE = URI.create("http://127.0.0.1:9");
    private static final String API = "kubernetes.master";
    private static final String NAME = "tunnel-client-identity";
    private static final String NAMESPACE = "culvert";
    /** Held, because a logger that nobody holds forgets its level. */
    private static final Logger REQUESTS = Logger.getLogger("io.fabric8.mockwebserver");

    @TempDir
    Path folder;

    private final KubernetesMockServer api = new KubernetesMockServer(new Context(), new MockWebServer(),
            new HashMap<>(),
            new KubernetesCrudDispatcher(), false);
    private final EventLoops loops = EventLoops.create(1);
    private Platform platform;
    private ClientConfig usual;
    private int pods;

    @BeforeEach
    void start() throws Exception {
        REQUESTS.setLevel(Level.WARNING);
        api.start();
        there();
        System.setProperty("kubernetes.auth.tryKubeConfig", "false");
        platform = Platform.start(folder);
        usual = platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), NOWHERE, null)
                .with(new ClientConfig.IdentitySecretName(NAME, NAMESPACE));
    }

    @AfterEach
    void stop() {
        platform.close();
        loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
        System.clearProperty(API);
        System.clearProperty("kubernetes.auth.tryKubeConfig");
        api.shutdown();
    }

    private void there() {
        System.setProperty(API, "http://" + api.getHostName() + ":" + api.getPort());
    }

    private static void away() {
        System.setProperty(API, "http://127.0.0.1:1");
    }

    /** The configuration of a new pod, whose disk is empty. */
    private ClientConfig pod() {
        pods++;
        return new ClientConfig(usual.server(), usual.serverCa(), null, null, usual.enrolmentTokenFile(),
                folder.resolve("pod-" + pods), usual.identitySecret(), usual.health(), usual.to(), null, null,
                usual.connections(), usual.conflictRetry(), usual.sessionLife(), false, usual.tls(),
                Standby.waiting(0), null, null, false);
    }

    private IdentitySource source() {
        return new IdentitySource(pod(), loops, Clock.systemUTC());
    }

    private Map<String, String> secret() {
        try (KubernetesClient client = api.createClient()) {
            return client.secrets().inNamespace(NAMESPACE).withName(NAME).get().getData();
        }
    }

    @Test
    void aPodThatStartsTenTimesHasOneIdentity() throws Exception {
        Set<String> certificates = new HashSet<>();
        for (int start = 0; start < 10; start++) {
            TunnelClient client = platform.connect(pod());
            certificates.add(Objects.requireNonNull(secret().get("client.crt")));
            client.stop(Duration.ZERO).block(PATIENCE);
        }

        assertThat(certificates).hasSize(1);
        assertThat(secret()).containsOnlyKeys("client.key", "client.crt", "ca.crt", "url");
    }

    @Test
    void replicasThatEnrolAtOnceUseOneTokenAndOneKey() {
        List<Identity> identities = Objects.requireNonNull(
                Flux.fromStream(IntStream.range(0, 4).mapToObj(replica -> source()))
                        .flatMap(IdentitySource::identity)
                        .collectList()
                        .block(PATIENCE));

        assertThat(identities).hasSize(4);
        assertThat(identities.stream().map(identity -> identity.material().key()).distinct()).hasSize(1);
        assertThat(secret()).doesNotContainKey("next.key");
    }

    @Test
    void oneOfTwoReplicasServesAndTheOtherWaits() throws Exception {
        TunnelClient first = platform.connect(pod());
        TunnelClient second = platform.start(pod(), event -> {});
        await().atMost(PATIENCE).until(second::isWaiting);

        first.stop(Duration.ZERO).block(PATIENCE);

        await().atMost(PATIENCE).until(() -> second.isLive() && !second.isWaiting());
    }

    @Test
    void theLoserOfARenewalTakesWhatWon() {
        IdentitySource first = source();
        IdentitySource second = source();
        Identity old = Objects.requireNonNull(first.identity().block(PATIENCE));
        assertThat(second.identity().block(PATIENCE)).isEqualTo(old);

        Identity renewed = Objects.requireNonNull(first.renewed(old).block(PATIENCE));
        assertThat(renewed.material().key()).isNotEqualTo(old.material().key());
        assertThat(second.renewed(old).block(PATIENCE)).isEqualTo(renewed);

        List<Identity> both = Objects.requireNonNull(
                Flux.merge(first.renewed(renewed), second.renewed(renewed)).collectList().block(PATIENCE));
        assertThat(both.stream().map(identity -> identity.material().key()).distinct()).hasSize(1);
        assertThat(both.getFirst().material().key()).isNotEqualTo(renewed.material().key());
        assertThat(platform.metrics()).doesNotContain("culvert_renewals_refused_total 1");
    }

    @Test
    void anApiThatIsAwayDelaysARenewalAndEndsNothing() throws Exception {
        TunnelClient client = platform.connect(pod());
        IdentitySource source = source();
        Identity identity = Objects.requireNonNull(source.identity().block(PATIENCE));

        away();
        assertThatThrownBy(() -> source.renewed(identity).block(PATIENCE))
                .isInstanceOf(EnrolmentException.Failed.class)
                .hasMessageContaining("the Kubernetes API does not answer");
        assertThatThrownBy(() -> source().identity().block(PATIENCE))
                .isInstanceOf(EnrolmentException.Failed.class);
        assertThat(source.identity().block(PATIENCE)).isEqualTo(identity);
        assertThat(client.isLive()).isTrue();

        there();
        assertThat(source.renewed(identity).block(PATIENCE)).isNotEqualTo(identity);
    }

    @Test
    void aSecretThatTheChartMadeEmptyIsFilled() {
        try (KubernetesClient client = api.createClient()) {
            client.secrets()
                    .inNamespace(NAMESPACE)
                    .resource(new SecretBuilder().withNewMetadata()
                            .withName(NAME)
                            .addToLabels("helm", "keep")
                            .endMetadata()
                            .build())
                    .create();
        }

        Mono<Identity> identity = source().identity();

        assertThat(identity.block(PATIENCE)).isNotNull();
        assertThat(secret()).containsKey("client.key");
        try (KubernetesClient client = api.createClient()) {
            assertThat(client.secrets().inNamespace(NAMESPACE).withName(NAME).get().getMetadata().getLabels())
                    .containsEntry("helm", "keep");
        }
    }
}
