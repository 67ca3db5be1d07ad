package dev.culvert.appproxy.argo;

import static dev.culvert.appproxy.argo.ArgoFixture.TIME;
import static dev.culvert.appproxy.argo.ArgoFixture.call;
import static dev.culvert.appproxy.argo.ArgoFixture.get;
import static dev.culvert.appproxy.argo.ArgoFixture.named;
import static dev.culvert.appproxy.argo.ArgoFixture.reason;
import static dev.culvert.appproxy.argo.ArgoFixture.refused;
import static dev.culvert.appproxy.argo.ArgoFixture.says;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.argo.application.ApplicationsProvider;
import dev.culvert.appproxy.argo.application.ApplicationsSettings;
import dev.culvert.appproxy.argo.rollout.RolloutChange;
import dev.culvert.appproxy.argo.rollout.RolloutsProvider;
import dev.culvert.appproxy.argo.rollout.RolloutsSettings;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.standins.argo.Samples;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.test.StepVerifier;

/** Rollouts and applications through the Kubernetes API: what is patched, and where. */
@SuppressWarnings("NullAway.Init")
class RolloutsIT {
    private static final String ROLLOUT = "/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web";

    private static final String BLUE = "{\"metadata\":{\"labels\":{\"team\":\"blue\"}}}";

    private ArgoFixture argo;
    private EdgeHandlerProvider provider;

    @BeforeEach
    void start(@TempDir Path folder) throws IOException {
        argo = new ArgoFixture(folder);
    }

    @AfterEach
    void stop() {
        provider.stop(Duration.ZERO).block(TIME);
        argo.close();
    }

    @Test
    void eachChangeIsThePatchOfArgosPlugin() {
        GraphQlFunction rollouts = rollouts();
        argo.cluster.put(Samples.rollout("shop", "web"));

        patched(rollouts, "promoteRollout", "/status", "{\"status\":{\"pauseConditions\":null}}");
        patched(rollouts, "promoteRollout", "/status",
                "{\"status\":{\"pauseConditions\":null,\"currentStepIndex\":2}}");
        patched(rollouts, "skipRolloutStep", "/status", "{\"status\":{\"currentStepIndex\":3}}");
        patched(rollouts, "promoteRolloutFull", "/status", "{\"status\":{\"promoteFull\":true}}");
        patched(rollouts, "abortRollout", "/status", "{\"status\":{\"abort\":true}}");
        patched(rollouts, "retryRollout", "/status", "{\"status\":{\"abort\":false}}");
        patched(rollouts, "pauseRollout", "", "{\"spec\":{\"paused\":true}}");
        patched(rollouts, "resumeRollout", "", "{\"spec\":{\"paused\":false}}");
        assertThat(call(rollouts, "Mutation.restartRollout", "ann", named("shop", "web")).get("restartAt"))
                .isNotNull();

        JsonNode now = argo.cluster.get("Rollout", "shop", "web");
        assertThat(now.path("status").path("currentStepIndex").asInt()).isEqualTo(3);
        assertThat(now.path("status").has("pauseConditions")).isFalse();
        assertThat(now.path("spec").path("paused").asBoolean()).isFalse();
    }

    @Test
    void aPausedRolloutIsUnpausedAfterItsStatus() {
        GraphQlFunction rollouts = rollouts();
        ObjectNode paused = Samples.rollout("shop", "web");
        paused.withObject("/spec").put("paused", true);
        argo.cluster.put(paused);

        assertThat(call(rollouts, "Mutation.promoteRollout", "ann", named("shop", "web")).get("paused"))
                .isEqualTo(false);

        assertThat(argo.cluster.changes()).extracting(change -> change.path() + " " + change.body())
                .satisfiesExactly(
                        change -> assertThat(change)
                                .startsWith(ROLLOUT + "/status {\"status\":{\"pauseConditions\":null},"),
                        change -> assertThat(change).startsWith(ROLLOUT + " {\"spec\":{\"paused\":false},"));
    }

    @Test
    void stepsAreSkippedOnlyWhereThereAreSome() {
        GraphQlFunction rollouts = rollouts();
        ObjectNode plain = Samples.rollout("shop", "plain");
        plain.withObject("/spec/strategy/canary").remove("steps");
        argo.cluster.put(plain);
        ObjectNode blueGreen = Samples.rollout("shop", "blue");
        blueGreen.withObject("/spec").putObject("strategy").putObject("blueGreen");
        argo.cluster.put(blueGreen);

        reason(refused(rollouts, "Mutation.skipRolloutStep", "ann", named("shop", "plain")), Reason.CONFLICT,
                "Cannot skip steps of a rollout without steps");
        reason(refused(rollouts, "Mutation.skipRolloutStep", "ann", named("shop", "blue")), Reason.CONFLICT,
                "Cannot skip steps of a bluegreen rollout");
        for (RolloutChange change : RolloutChange.values()) {
            reason(refused(rollouts, "Mutation." + change.field(), "bob", named("shop", "plain")),
                    Reason.FORBIDDEN, null);
        }
        assertThat(argo.cluster.changes()).isEmpty();
    }

    @Test
    void whatWasGivenAwayMeanwhileIsNotChanged() {
        GraphQlFunction rollouts = rollouts();
        argo.cluster.put(Samples.rollout("shop", "web"));
        argo.access.meanwhile = () -> argo.cluster.change("Rollout", "shop", "web", BLUE);
        reason(refused(rollouts, "Mutation.pauseRollout", "ann", named("shop", "web")), Reason.FORBIDDEN,
                null);
        assertThat(argo.cluster.get("Rollout", "shop", "web").path("spec").path("paused").asBoolean())
                .isFalse();
        provider.stop(Duration.ZERO).block(TIME);

        GraphQlFunction applications = applications();
        argo.cluster.put(Samples.application("argocd", "shop"));
        argo.access.meanwhile = () -> argo.cluster.change("Application", "argocd", "shop", BLUE);
        reason(refused(applications, "Mutation.syncApplication", "ann", Map.of("name", "shop")),
                Reason.FORBIDDEN, null);
        assertThat(argo.cluster.get("Application", "argocd", "shop").has("operation")).isFalse();
    }

    @Test
    void aConflictBehindTheStatusSkipsNoStep() {
        GraphQlFunction rollouts = rollouts();
        ObjectNode paused = Samples.rollout("shop", "web");
        paused.withObject("/spec").put("paused", true);
        paused.withObject("/status").remove("pauseConditions");
        paused.withObject("/status").put("currentStepIndex", 1);
        argo.cluster.put(paused);
        argo.cluster.conflictNext(2);

        var answer = call(rollouts, "Mutation.promoteRollout", "ann", named("shop", "web"));

        assertThat(answer.get("paused")).isEqualTo(false);
        assertThat(answer.get("currentStepIndex")).isEqualTo(2);
    }

    @Test
    void anApplicationIsSyncedAndTerminated() {
        GraphQlFunction applications = applications();
        argo.cluster.put(Samples.application("argocd", "shop"));
        var shop = Map.<String, Object>of("name", "shop", "prune", true);

        var _ = call(applications, "Mutation.syncApplication", "ann", shop);

        JsonNode now = argo.cluster.get("Application", "argocd", "shop");
        assertThat(now.path("operation").path("sync").path("revision").asText()).isEqualTo("main");
        assertThat(now.path("operation").path("sync").path("prune").asBoolean()).isTrue();
        assertThat(now.path("operation").path("sync").path("syncOptions").path(0).asText())
                .isEqualTo("CreateNamespace=true");
        assertThat(now.path("operation").path("initiatedBy").path("username").asText()).isEqualTo("ann");
        assertThat(now.path("status").path("operationState").path("phase").asText()).isEqualTo("Running");
        reason(refused(applications, "Mutation.syncApplication", "ann", shop), Reason.CONFLICT,
                "another operation is already in progress");
        assertThat(call(applications, "Mutation.terminateSync", "ann", shop).get("operationPhase"))
                .isEqualTo("Terminating");
        reason(refused(applications, "Mutation.terminateSync", "ann", shop), Reason.CONFLICT,
                "Unable to terminate operation. No operation is in progress");
    }

    @Test
    void anApplicationIsRolledBackToItsHistoryUnlessItSyncsByItself() {
        GraphQlFunction applications = applications();
        argo.cluster.put(Samples.application("argocd", "shop"));
        ObjectNode automatic = Samples.application("argocd", "auto");
        automatic.withObject("/spec/syncPolicy").putObject("automated");
        argo.cluster.put(automatic);

        reason(refused(applications, "Mutation.rollbackApplication", "ann", Map.of("name", "auto", "id", 0)),
                Reason.CONFLICT, "rollback cannot be initiated when auto-sync is enabled");
        reason(refused(applications, "Mutation.syncApplication", "ann",
                Map.of("name", "auto", "revision", "v2")),
                Reason.CONFLICT, "Cannot sync to v2: auto-sync currently set to main");
        reason(refused(applications, "Mutation.rollbackApplication", "ann", Map.of("name", "shop", "id", 9)),
                Reason.CONFLICT, "application shop does not have deployment with id 9");
        for (String field : new String[]{"syncApplication", "terminateSync", "rollbackApplication"}) {
            reason(refused(applications, "Mutation." + field, "bob", Map.of("name", "shop", "id", 0)),
                    Reason.FORBIDDEN, null);
        }
        assertThat(argo.cluster.changes()).isEmpty();

        var _ = call(applications, "Mutation.rollbackApplication", "ann", Map.of("name", "shop", "id", 0));

        JsonNode sync = argo.cluster.get("Application", "argocd", "shop").path("operation").path("sync");
        assertThat(sync.path("revision").asText()).isEqualTo("aaaa");
        assertThat(sync.path("syncStrategy").has("apply")).isTrue();
    }

    @Test
    void logsOfAnApplicationAreADownloadOfItsOwnPodsAlone() {
        GraphQlFunction applications = applications();
        argo.cluster.put(Samples.application("argocd", "shop"));
        argo.cluster.put(Samples.applicationPod("shop", "shop", "shop-1"));
        argo.cluster.put(Samples.applicationPod("shop", "other", "other-1"));
        argo.cluster.log("shop", "shop-1").write("mine").end();
        argo.cluster.log("shop", "other-1").write("theirs").end();

        EdgeResponse.Http answer = answer(applications, "/app-proxy/api/applications/logs?name=shop");
        assertThat(answer.headers().get("content-disposition"))
                .isEqualTo("attachment; filename=\"shop.log\"");
        StepVerifier.create(answer.body()).assertNext(says("mine\n")).expectComplete().verify(TIME);
        StepVerifier
                .create(answer(applications, "/app-proxy/api/applications/logs?name=shop&podName=other-1")
                        .body())
                .expectComplete()
                .verify(TIME);
    }

    @Test
    void logsOfPodsInAnotherClusterAreNotThoseOfNamesakesHere() {
        GraphQlFunction applications = applications();
        var away = Samples.application("argocd", "shop");
        away.withObject("/spec").withObject("/destination").put("name", "edge-2");
        argo.cluster.put(away);
        argo.cluster.put(Samples.applicationPod("shop", "shop", "shop-1"));

        assertThatThrownBy(() -> answer(applications, "/app-proxy/api/applications/logs?name=shop"))
                .hasMessageContaining("in another cluster");
    }

    private void patched(GraphQlFunction rollouts, String field, String resource, String patch) {
        var _ = call(rollouts, "Mutation." + field, "ann", named("shop", "web"));
        var change = argo.cluster.changes().getLast();
        assertThat(change.method() + " " + change.type()).isEqualTo("PATCH application/merge-patch+json");
        assertThat(change.path()).isEqualTo(ROLLOUT + resource);
        assertThat(change.body()).startsWith(
                patch.substring(0, patch.length() - 1) + ",\"metadata\":{\"resourceVersion\":");
    }

    private GraphQlFunction rollouts() {
        return function(new RolloutsProvider(),
                new RolloutsSettings(null, argo.api(argo.cluster.uri()), "in-cluster"));
    }

    private GraphQlFunction applications() {
        return function(new ApplicationsProvider(),
                new ApplicationsSettings(null, argo.api(argo.cluster.uri()), "in-cluster", "argocd", 4));
    }

    private GraphQlFunction function(EdgeHandlerProvider made, Record settings) {
        provider = made;
        EdgeHandler handler = made.create(argo.context(settings));
        made.start().block(TIME);
        return (GraphQlFunction) handler;
    }

    private static EdgeResponse.Http answer(GraphQlFunction handler, String target) {
        return (EdgeResponse.Http) Objects
                .requireNonNull(((EdgeHandler) handler).handle(get(target, "ann")).block(TIME));
    }
}
