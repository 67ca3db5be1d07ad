package dev.culvert.appproxy.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.http.net.EventLoops;
import dev.culvert.standins.argo.ClusterStandIn;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** Keys and tokens in secrets of the stand-in cluster. */
class KubernetesTokenVaultIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final AuthenticatedCaller ALICE = new AuthenticatedCaller("acme", "alice", "Alice",
            "alice@example.com", false);
    private static final GitToken TOKEN = new GitToken("alice", "ghp_inCluster123456");

    @Test
    void tokensAreKeptEncryptedInSecretsOfTheirOwnNames() {
        var loops = EventLoops.create(1);
        var blocking = Schedulers.newBoundedElastic(2, 100, "secrets");
        var cluster = Objects.requireNonNull(ClusterStandIn.start(loops, "sa-token").block(TIME));
        try (KubernetesClient client = client(cluster)) {
            var vault = new KubernetesTokenVault("git", null, "culvert-keys", () -> client);
            assertThatThrownBy(() -> new EncryptedGitTokens(vault, blocking, 10).open().block(TIME))
                    .hasMessageContaining("secret git/culvert-keys, key keys: not there");
            keys(client);
            var tokens = new EncryptedGitTokens(vault, blocking, 10);

            client.secrets()
                    .inNamespace("git")
                    .resource(new SecretBuilder().withNewMetadata()
                            .withName("runtime-repo-creds-secret")
                            .endMetadata()
                            .withData(Map.of("url", "aHR0cHM6Ly9naXQudGVzdA=="))
                            .build())
                    .create();
            tokens.put(ALICE, "hub", TOKEN).block(TIME);
            tokens.putRuntime("hub", TOKEN).block(TIME);

            var again = new EncryptedGitTokens(vault, blocking, 10);
            assertThat(Objects.requireNonNull(again.of(ALICE, "hub").block(TIME)).sameAs(TOKEN)).isTrue();
            assertThat(Objects.requireNonNull(again.runtime("hub").block(TIME)).sameAs(TOKEN)).isTrue();
            assertThat(secret(client, "git-default-acme").getData().toString()).doesNotContain(TOKEN.value());
            assertThat(secret(client, "runtime-repo-creds-secret").getMetadata().getLabels())
                    .containsEntry("argocd.argoproj.io/secret-type", "repo-creds");
            assertThat(secret(client, "runtime-repo-creds-secret").getData())
                    .as("what Argo CD reads from it stays")
                    .containsKey("url");
            assertThat(again.remove(ALICE, "hub").block(TIME)).isTrue();
            assertThat(secret(client, "git-default-acme").getData()).isNullOrEmpty();
        } finally {
            cluster.stop().block(TIME);
            blocking.dispose();
            loops.disposeLater(Duration.ZERO, TIME).block(TIME);
        }
    }

    private static void keys(KubernetesClient client) {
        String line = Base64.getEncoder().encodeToString(new byte[TokenKeys.KEY_BYTES]);
        client.secrets()
                .inNamespace("git")
                .resource(new SecretBuilder().withNewMetadata()
                        .withName("culvert-keys")
                        .endMetadata()
                        .withData(Map.of("keys",
                                Base64.getEncoder().encodeToString(line.getBytes(StandardCharsets.US_ASCII))))
                        .build())
                .create();
    }

    private static Secret secret(KubernetesClient client, String name) {
        return Objects.requireNonNull(client.secrets().inNamespace("git").withName(name).get());
    }

    private static KubernetesClient client(ClusterStandIn cluster) {
        Config config = new ConfigBuilder(Config.empty()).withMasterUrl(cluster.uri().toString())
                .withOauthToken("sa-token")
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }
}
