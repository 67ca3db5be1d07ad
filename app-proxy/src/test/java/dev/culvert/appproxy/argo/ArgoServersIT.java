package dev.culvert.appproxy.argo;

import static dev.culvert.appproxy.argo.ArgoFixture.TIME;
import static dev.culvert.appproxy.argo.ArgoFixture.call;
import static dev.culvert.appproxy.argo.ArgoFixture.get;
import static dev.culvert.appproxy.argo.ArgoFixture.named;
import static dev.culvert.appproxy.argo.ArgoFixture.reason;
import static dev.culvert.appproxy.argo.ArgoFixture.refused;
import static dev.culvert.appproxy.argo.ArgoFixture.says;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.appproxy.argo.application.ApplicationsProvider;
import dev.culvert.appproxy.argo.application.ApplicationsSettings;
import dev.culvert.appproxy.argo.rollout.RolloutsProvider;
import dev.culvert.appproxy.argo.rollout.RolloutsSettings;
import dev.culvert.appproxy.argo.workflow.WorkflowsProvider;
import dev.culvert.appproxy.argo.workflow.WorkflowsSettings;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.standins.argo.ArgoStandIn;
import dev.culvert.standins.argo.PodLog;
import dev.culvert.standins.argo.Samples;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** All three kinds through Argo's own servers: nothing is changed through the Kubernetes API but what those lack. */
@SuppressWarnings("NullAway.Init")
class ArgoServersIT {
    private static final String BLUE = "{\"metadata\":{\"labels\":{\"team\":\"blue\"}}}";

    private ArgoFixture argo;
    private ArgoStandIn server;
    private EdgeHandlerProvider provider;
    private Path folder;

    @BeforeEach
    void start(@TempDir Path temporary) throws IOException {
        folder = temporary;
        argo = new ArgoFixture(temporary);
        server = Objects
                .requireNonNull(ArgoStandIn.start(argo.loops, argo.cluster, ArgoFixture.TOKEN).block(TIME));
    }

    @AfterEach
    void stop() {
        provider.stop(Duration.ZERO).block(TIME);
        server.stop().block(TIME);
        argo.close();
    }

    @Test
    void workflowsAreSteeredByTheArgoServer() {
        GraphQlFunction workflows = workflows();
        argo.cluster.put(Samples.workflow("argo", "build"));

        assertThat(
                call(workflows, "Mutation.suspendWorkflow", "ann", named("argo", "build")).get("suspended"))
                .isEqualTo(true);
        assertThat(call(workflows, "Mutation.resumeWorkflow", "ann", named("argo", "build")).get("suspended"))
                .isEqualTo(false);
        reason(refused(workflows, "Mutation.retryWorkflow", "ann", named("argo", "build")), Reason.CONFLICT,
                "Cannot retry a workflow in phase Running");
        assertThat(call(workflows, "Mutation.stopWorkflow", "ann", named("argo", "build")).get("shutdown"))
                .isEqualTo("Stop");
        assertThat(call(workflows, "Mutation.retryWorkflow", "ann", named("argo", "build")).get("shutdown"))
                .isNull();
        assertThat(
                call(workflows, "Mutation.terminateWorkflow", "ann", named("argo", "build")).get("shutdown"))
                .isEqualTo("Terminate");
        reason(refused(workflows, "Mutation.terminateWorkflow", "ann", named("argo", "build")),
                Reason.CONFLICT,
                "cannot shutdown a completed workflow");
        reason(refused(workflows, "Mutation.suspendWorkflow", "ann", named("argo", "build")), Reason.CONFLICT,
                "cannot suspend completed workflows");
        assertThat((String) call(workflows, "Mutation.resubmitWorkflow", "ann", named("argo", "build"))
                .get("name"))
                .startsWith("build-");
        reason(refused(workflows, "Mutation.stopWorkflow", "ann", named("argo", "none")), Reason.NOT_FOUND,
                null);

        assertThat(argo.cluster.get("Workflow", "argo", "build").path("spec").path("shutdown").asText())
                .isEqualTo("Terminate");
        assertThat(argo.cluster.changes()).isEmpty();
        assertThat(server.changes()).contains("PUT /api/v1/workflows/argo/build/terminate");
    }

    @Test
    void whoMayNotReachesNoServer() {
        GraphQlFunction workflows = workflows();
        argo.cluster.put(Samples.workflow("argo", "build"));

        reason(refused(workflows, "Mutation.terminateWorkflow", "bob", named("argo", "build")),
                Reason.FORBIDDEN, null);

        assertThat(server.changes()).isEmpty();
        assertThat(argo.cluster.get("Workflow", "argo", "build").path("spec").has("shutdown")).isFalse();
    }

    @Test
    void eventsAndLogsPassThroughAsTheyCome() {
        GraphQlFunction workflows = workflows();
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.cluster.put(Samples.pod("argo", "build", "build-1"));
        PodLog log = argo.cluster.log("argo", "build-1").write("one");

        StepVerifier.create(body(workflows, "/app-proxy/api/workflows/events/argo"), 1)
                .assertNext(says("\"type\":\"ADDED\""))
                .then(() -> call(workflows, "Mutation.terminateWorkflow", "ann", named("argo", "build")))
                .thenRequest(1)
                .assertNext(says("\"shutdown\":\"Terminate\""))
                .thenCancel()
                .verify(TIME);
        StepVerifier.create(body(workflows, "/app-proxy/api/workflows/argo/build/log?follow=true"))
                .assertNext(says("\"content\":\"one\""))
                .then(() -> log.write("two"))
                .assertNext(says("\"content\":\"two\""))
                .thenCancel()
                .verify(TIME);
        await().atMost(TIME).until(() -> log.followers() == 0);
    }

    @Test
    void aTokenThatIsRefusedIsTheAppProxysTrouble() throws IOException {
        GraphQlFunction workflows = workflows();
        argo.cluster.put(Samples.workflow("argo", "build"));
        Files.writeString(folder.resolve("token"), "other");

        reason(refused(workflows, "Mutation.terminateWorkflow", "ann", named("argo", "build")),
                Reason.UNAVAILABLE,
                "the Argo server refuses the App-Proxy's own credentials (401)");
    }

    @Test
    void rolloutsUseTheServerForWhatItHas() {
        GraphQlFunction rollouts = rollouts();
        argo.cluster.put(Samples.rollout("shop", "web"));

        assertThat(call(rollouts, "Mutation.promoteRollout", "ann", named("shop", "web")).get("waiting"))
                .isEqualTo(false);
        assertThat(
                call(rollouts, "Mutation.promoteRolloutFull", "ann", named("shop", "web")).get("promoteFull"))
                .isEqualTo(true);
        assertThat(call(rollouts, "Mutation.abortRollout", "ann", named("shop", "web")).get("aborted"))
                .isEqualTo(true);
        assertThat(call(rollouts, "Mutation.retryRollout", "ann", named("shop", "web")).get("aborted"))
                .isEqualTo(false);
        assertThat(call(rollouts, "Mutation.restartRollout", "ann", named("shop", "web")).get("restartAt"))
                .isNotNull();
        assertThat(argo.cluster.changes()).isEmpty();
        assertThat(call(rollouts, "Mutation.pauseRollout", "ann", named("shop", "web")).get("paused"))
                .isEqualTo(true);
        assertThat(argo.cluster.changes()).hasSize(1);
    }

    @Test
    void applicationsAreSteeredByArgoCd() {
        GraphQlFunction applications = applications();
        argo.cluster.put(Samples.application("argocd", "shop"));
        argo.cluster.put(Samples.applicationPod("shop", "shop", "shop-1"));
        argo.cluster.log("shop", "shop-1").write("hello").end();
        var shop = Map.<String, Object>of("name", "shop");

        assertThat(call(applications, "Mutation.syncApplication", "ann", shop)).isNotNull();
        reason(refused(applications, "Mutation.syncApplication", "ann", shop), Reason.CONFLICT,
                "another operation is already in progress");
        assertThat(call(applications, "Mutation.terminateSync", "ann", shop).get("operationPhase"))
                .isEqualTo("Failed");
        reason(refused(applications, "Mutation.terminateSync", "ann", shop), Reason.CONFLICT,
                "No operation is in progress");
        assertThat(call(applications, "Mutation.rollbackApplication", "ann", Map.of("name", "shop", "id", 0)))
                .isNotNull();
        assertThat(argo.cluster.get("Application", "argocd", "shop")
                .path("operation")
                .path("sync")
                .path("revision")
                .asText())
                .isEqualTo("aaaa");
        StepVerifier.create(body(applications, "/app-proxy/api/applications/logs?name=shop"))
                .assertNext(says("hello\n"))
                .expectComplete()
                .verify(TIME);
        assertThat(argo.cluster.changes()).isEmpty();
        assertThat(server.changes()).containsAll(List.of("POST /api/v1/applications/shop/sync",
                "DELETE /api/v1/applications/shop/operation", "POST /api/v1/applications/shop/rollback"));
    }

    @Test
    void whatWasGivenAwayMeanwhileReachesNoServer() {
        GraphQlFunction workflows = workflows();
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.access.meanwhile = () -> argo.cluster.change("Workflow", "argo", "build", BLUE);
        reason(refused(workflows, "Mutation.terminateWorkflow", "ann", named("argo", "build")),
                Reason.FORBIDDEN, null);
        provider.stop(Duration.ZERO).block(TIME);

        GraphQlFunction rollouts = rollouts();
        argo.cluster.put(Samples.rollout("shop", "web"));
        argo.access.meanwhile = () -> argo.cluster.change("Rollout", "shop", "web", BLUE);
        reason(refused(rollouts, "Mutation.abortRollout", "ann", named("shop", "web")), Reason.FORBIDDEN,
                null);
        provider.stop(Duration.ZERO).block(TIME);

        GraphQlFunction applications = applications();
        argo.cluster.put(Samples.application("argocd", "shop"));
        argo.access.meanwhile = () -> argo.cluster.change("Application", "argocd", "shop", BLUE);
        reason(refused(applications, "Mutation.syncApplication", "ann", Map.of("name", "shop")),
                Reason.FORBIDDEN, null);

        assertThat(server.changes()).isEmpty();
    }

    @Test
    void aNamesakeOfWhatWasJudgedReachesNoServer() {
        GraphQlFunction workflows = workflows();
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.access.meanwhile = () -> argo.cluster.replace(Samples.workflow("argo", "build"));

        reason(refused(workflows, "Mutation.stopWorkflow", "ann", named("argo", "build")), Reason.CONFLICT,
                "replaced by another one");

        assertThat(server.changes()).isEmpty();
    }

    @Test
    void whatIsBusyMeanwhileIsJudgedAgainAndChanged() {
        GraphQlFunction workflows = workflows();
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.access.meanwhile = () -> argo.cluster.change("Workflow", "argo", "build",
                "{\"status\":{\"progress\":\"1/2\"}}");

        assertThat(call(workflows, "Mutation.stopWorkflow", "ann", named("argo", "build")).get("shutdown"))
                .isEqualTo("Stop");
        assertThat(argo.access.asked).hasSize(2);
    }

    private GraphQlFunction rollouts() {
        return function(new RolloutsProvider(), new RolloutsSettings(argo.api(server.uri()),
                argo.api(argo.cluster.uri()), "in-cluster"));
    }

    private GraphQlFunction applications() {
        return function(new ApplicationsProvider(),
                new ApplicationsSettings(argo.api(server.uri()), null, "in-cluster", "argocd", 4));
    }

    private GraphQlFunction workflows() {
        return function(new WorkflowsProvider(),
                new WorkflowsSettings(argo.api(server.uri()), null, "in-cluster", 4));
    }

    private GraphQlFunction function(EdgeHandlerProvider made, Record settings) {
        provider = made;
        EdgeHandler handler = made.create(argo.context(settings));
        made.start().block(TIME);
        return (GraphQlFunction) handler;
    }

    private static Flux<ByteBuf> body(GraphQlFunction handler, String target) {
        return ((EdgeHandler) handler).handle(get(target, "ann"))
                .flatMapMany(answer -> ((EdgeResponse.Http) answer).body());
    }
}
