package dev.culvert.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.LintResult;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.kubernetes.api.model.networking.v1.Ingress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the chart renders in each mode. */
class ChartTest {
    /** Of the Prometheus operator, whose types the Kubernetes library has not. */
    private static final Set<String> MONITOR = Set.of("selector.matchLabels", "endpoints.port",
            "endpoints.path", "endpoints.scheme", "endpoints.interval",
            "endpoints.tlsConfig.insecureSkipVerify");

    private static final CustomResourceDefinitionContext MONITORS = new CustomResourceDefinitionContext.Builder()
            .withGroup("monitoring.coreos.com")
            .withVersion("v1")
            .withKind("ServiceMonitor")
            .withPlural("servicemonitors")
            .withScope("Namespaced")
            .build();

    @Test
    void theChartIsLinted() {
        LintResult result = Chart.lint();

        assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void noFieldIsUnknown(Mode mode) throws IOException {
        List<HasMetadata> objects = Chart.objects(mode);

        assertThat(objects).isNotEmpty().allSatisfy(object -> {
            if (object instanceof GenericKubernetesResource generic) {
                assertThat(generic.getKind()).isEqualTo("ServiceMonitor");
                assertThat(paths("", Objects.requireNonNull(generic.getAdditionalProperties().get("spec")))
                        .distinct())
                        .isSubsetOf(MONITOR);
            } else {
                assertThat(UnknownFields.of(object)).as(object.toString()).isEmpty();
            }
        });
    }

    @Test
    void anUnknownFieldIsFound() {
        var pod = Chart.object("""
                apiVersion: v1
                kind: Pod
                metadata: { name: a }
                spec: { containers: [{ name: a, livenessProbe: { httpGet: { port: 1, pth: / } } }] }
                """);

        assertThat(UnknownFields.of(pod)).singleElement().asString().endsWith(".pth");
    }

    @ParameterizedTest
    @EnumSource
    void theApiTakesEveryObjectOnce(Mode mode) throws IOException {
        var server = new KubernetesMockServer(new Context(), new MockWebServer(), new HashMap<>(),
                new KubernetesCrudDispatcher(), false);
        Logger.getLogger("io.fabric8.mockwebserver").setLevel(Level.WARNING);
        server.expectCustomResource(MONITORS);
        server.start();
        try (KubernetesClient client = server.createClient()) {
            for (HasMetadata object : Chart.objects(mode)) {
                assertThat(
                        client.resource(object).inNamespace(Chart.NAMESPACE).create().getMetadata().getUid())
                        .isNotBlank();
            }
        } finally {
            server.shutdown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void podsAreRestricted(Mode mode) throws IOException {
        List<PodTemplateSpec> pods = pods(Chart.objects(mode));

        assertThat(pods).hasSameSizeAs(mode.parts()).allSatisfy(pod -> {
            var spec = pod.getSpec();
            assertThat(spec.getSecurityContext().getRunAsNonRoot()).isTrue();
            assertThat(spec.getSecurityContext().getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
            assertThat(spec.getContainers()).singleElement().satisfies(container -> {
                assertThat(container.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
                assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
                assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
                assertThat(container.getResources().getLimits()).containsKey("memory");
                assertThat(container.getReadinessProbe().getHttpGet().getPath()).endsWith("/readyz");
                long preStop = container.getLifecycle() == null
                        ? 0
                        : container.getLifecycle().getPreStop().getSleep().getSeconds();
                assertThat(spec.getTerminationGracePeriodSeconds()).isGreaterThan(preStop + 30 + 10);
            });
        });
    }

    @Test
    void inTunnelModeNothingIsLetIn() throws IOException {
        List<HasMetadata> objects = Chart.objects(Mode.TUNNEL);

        assertThat(Chart.all(objects, Ingress.class)).isEmpty();
        assertThat(policy(objects, "tunnel-client").getSpec().getIngress()).isEmpty();
        assertThat(policy(objects, "tunnel-client").getSpec().getPolicyTypes()).containsExactly("Ingress");
        assertThat(policy(objects, "cap-app-proxy").getSpec().getIngress()).singleElement()
                .satisfies(rule -> assertThat(rule.getFrom()).allSatisfy(
                        peer -> assertThat(peer.getPodSelector().getMatchLabels()).isNotEmpty()));
    }

    @Test
    void inIngressModeTheControllerIsLetIn() throws IOException {
        List<HasMetadata> objects = Chart.objects(Mode.INGRESS);

        assertThat(Chart.all(objects, Ingress.class)).singleElement()
                .satisfies(ingress -> assertThat(ingress.getSpec().getRules()).singleElement()
                        .satisfies(rule -> assertThat(rule.getHttp().getPaths())
                                .extracting(path -> path.getPath())
                                .containsExactly("/app-proxy", "/workflows", "/webhooks")));
        assertThat(policy(objects, "internal-router").getSpec().getIngress()).singleElement()
                .satisfies(rule -> {
                    assertThat(rule.getPorts()).extracting(port -> port.getPort().getStrVal())
                            .containsExactly("http");
                    assertThat(rule.getFrom().getFirst().getNamespaceSelector().getMatchLabels())
                            .containsValue("ingress-nginx");
                });
        assertThat(Chart.all(Chart.objects(Mode.HTTP_ROUTE), HTTPRoute.class)).hasSize(1);
        assertThat(Chart.all(Chart.objects(Mode.EXPLICIT_URL), Ingress.class)).isEmpty();
    }

    @Test
    void onlyPrometheusReadsMetrics() throws IOException {
        assertThat(policy(Chart.objects(Mode.EVERYTHING), "tunnel-client").getSpec().getIngress())
                .singleElement()
                .satisfies(rule -> {
                    assertThat(rule.getPorts()).extracting(port -> port.getPort().getStrVal())
                            .containsExactly("health");
                    assertThat(rule.getFrom()).singleElement()
                            .satisfies(peer -> assertThat(peer.getNamespaceSelector().getMatchLabels())
                                    .containsValue("monitoring"));
                });
    }

    @Test
    void replicasOfTheClientShareASecret() throws IOException {
        List<HasMetadata> objects = Chart.objects(Mode.TUNNEL);

        assertThat(deployment(objects, "tunnel-client").getSpec().getReplicas()).isEqualTo(2);
        assertThat(Chart.all(objects, StatefulSet.class)).isEmpty();
        assertThat(Chart.all(objects, Secret.class)).singleElement()
                .satisfies(secret -> assertThat(secret.getData()).isEmpty());
        assertThat(Chart.all(objects, Role.class)).singleElement()
                .satisfies(role -> assertThat(role.getRules()).singleElement().satisfies(rule -> {
                    assertThat(rule.getResourceNames()).containsExactly("tunnel-client-identity");
                    assertThat(rule.getVerbs()).containsExactly("get", "update");
                }));
        assertThat(Chart.all(objects, PodDisruptionBudget.class)).singleElement()
                .satisfies(budget -> assertThat(budget.getSpec().getMinAvailable().getIntVal()).isEqualTo(1));
    }

    @Test
    void orEachHasAVolume() throws IOException {
        List<HasMetadata> objects = Chart.objects(Mode.VOLUMES);

        assertThat(Chart.all(objects, StatefulSet.class)).singleElement()
                .satisfies(set -> assertThat(set.getSpec().getVolumeClaimTemplates()).hasSize(1));
        assertThat(Chart.all(objects, Secret.class)).isEmpty();
        assertThat(Chart.all(objects, Role.class)).isEmpty();
    }

    @Test
    void aSingleNamespaceHasNoClusterRole() throws IOException {
        assertThat(Chart.all(Chart.objects(Mode.TUNNEL), ClusterRole.class)).hasSize(1);
        List<HasMetadata> objects = Chart.objects(Mode.SINGLE_NAMESPACE);

        assertThat(Chart.all(objects, ClusterRole.class)).isEmpty();
        assertThat(Chart.all(objects, Role.class)).hasSize(2)
                .filteredOn(role -> role.getMetadata().getName().equals("cap-app-proxy"))
                .singleElement()
                .satisfies(role -> assertThat(role.getRules()).noneSatisfy(
                        rule -> assertThat(rule.getResources()).containsAnyOf("secrets", "*")));
    }

    @Test
    void webhooksOfAnotherNamespaceAreRefused() throws IOException {
        Map<String, Object> values = Mode.SINGLE_NAMESPACE.tree();
        Yaml.set(values, List.of("internal-router", "routing", "policy", "webhooks", "allow"),
                List.of("argo/*"));

        assertThatThrownBy(() -> Chart.render(values)).hasMessageContaining("argo/* is not in culvert");
    }

    @Test
    void aModeIsNeeded() throws IOException {
        assertThatThrownBy(() -> Chart.render(Map.of())).hasMessageContaining("set global.runtime.name");
        Map<String, Object> off = Mode.TUNNEL.tree();
        Yaml.set(off, List.of("tunnel-client", "enabled"), false);
        assertThatThrownBy(() -> Chart.render(off)).hasMessageContaining("enable one of tunnel-client");
    }

    @Test
    void anUnknownValueIsRefused() throws IOException {
        Map<String, Object> values = Mode.TUNNEL.tree();
        Yaml.set(values, List.of("tunnel-client", "replicas"), 3);

        assertThatThrownBy(() -> Chart.render(values)).hasMessageContaining("replicas");
    }

    private static List<PodTemplateSpec> pods(List<HasMetadata> objects) {
        return Stream.concat(
                Chart.all(objects, Deployment.class).stream().map(each -> each.getSpec().getTemplate()),
                Chart.all(objects, StatefulSet.class).stream().map(each -> each.getSpec().getTemplate()))
                .toList();
    }

    private static Deployment deployment(List<HasMetadata> objects, String name) {
        return Chart.all(objects, Deployment.class)
                .stream()
                .filter(each -> each.getMetadata().getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static NetworkPolicy policy(List<HasMetadata> objects, String name) {
        return Chart.all(objects, NetworkPolicy.class)
                .stream()
                .filter(each -> each.getMetadata().getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The paths of all fields, down to maps of labels. */
    private static Stream<String> paths(String path, Object value) {
        return switch (value) {
            case List<?> list -> list.stream().flatMap(item -> paths(path, item));
            case Map<?, ?> map when !path.endsWith("matchLabels") -> map.entrySet()
                    .stream()
                    .flatMap(entry -> paths((path.isEmpty() ? "" : path + ".") + entry.getKey(),
                            entry.getValue()));
            default -> Stream.of(path);
        };
    }
}
