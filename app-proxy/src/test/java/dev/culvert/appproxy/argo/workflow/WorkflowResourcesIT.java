package dev.culvert.appproxy.argo.workflow;

import static dev.culvert.appproxy.argo.ArgoFixture.TIME;
import static dev.culvert.appproxy.argo.ArgoFixture.call;
import static dev.culvert.appproxy.argo.ArgoFixture.get;
import static dev.culvert.appproxy.argo.ArgoFixture.named;
import static dev.culvert.appproxy.argo.ArgoFixture.reason;
import static dev.culvert.appproxy.argo.ArgoFixture.refused;
import static dev.culvert.appproxy.argo.ArgoFixture.says;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.argo.ArgoFixture;
import dev.culvert.appproxy.argo.api.Resources;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.standins.argo.ClusterStandIn.Change;
import dev.culvert.standins.argo.PodLog;
import dev.culvert.standins.argo.Samples;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** Workflows through the Kubernetes API. */
@SuppressWarnings("NullAway.Init")
class WorkflowResourcesIT {
    private static final String TEAM = "{\"metadata\":{\"labels\":{\"team\":\"%s\"}}}";

    private ArgoFixture argo;
    private final WorkflowsProvider provider = new WorkflowsProvider();
    private WorkflowsHandler handler;

    @BeforeEach
    void start(@TempDir Path folder) throws IOException {
        argo = new ArgoFixture(folder);
        handler = (WorkflowsHandler) provider.create(
                argo.context(new WorkflowsSettings(null, argo.api(argo.cluster.uri()), "in-cluster", 2)));
        provider.start().block(TIME);
    }

    @AfterEach
    void stop() {
        provider.stop(Duration.ZERO).block(TIME);
        argo.close();
    }

    @Test
    void terminateIsOneMergePatch() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        String version = workflow("build").path("metadata").path("resourceVersion").asText();

        var answer = call(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build"));

        assertThat(answer.get("shutdown")).isEqualTo("Terminate");
        assertThat(argo.cluster.changes()).containsExactly(
                new Change("PATCH", "/apis/argoproj.io/v1alpha1/namespaces/argo/workflows/build",
                        "application/merge-patch+json",
                        "{\"spec\":{\"shutdown\":\"Terminate\"},\"metadata\":{\"labels\":{\"workflows.argoproj.io/actor\":\"ann\","
                                + "\"workflows.argoproj.io/actor-email\":\"ann.at.example.com\","
                                + "\"workflows.argoproj.io/action\":\"Terminate\"},\"resourceVersion\":\""
                                + version
                                + "\"}}"));
        JsonNode now = workflow("build");
        assertThat(now.path("spec").path("shutdown").asText()).isEqualTo("Terminate");
        assertThat(now.path("status").path("phase").asText()).isEqualTo("Failed");
    }

    @Test
    void whatIsOverCannotBeShutDownOrSuspended() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        var _ = call(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build"));

        reason(refused(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build")), Reason.CONFLICT,
                "cannot shutdown a completed workflow: workflow: \"build\", namespace: \"argo\"");
        reason(refused(handler, "Mutation.suspendWorkflow", "ann", named("argo", "build")), Reason.CONFLICT,
                "cannot suspend completed workflows");
        assertThat(argo.cluster.changes()).hasSize(1);
    }

    @Test
    void stopLetsTheExitHandlerRun() {
        argo.cluster.put(Samples.workflow("argo", "build"));

        assertThat(call(handler, "Mutation.stopWorkflow", "ann", named("argo", "build")).get("shutdown"))
                .isEqualTo("Stop");

        assertThat(argo.cluster.changes().getFirst().body()).startsWith("{\"spec\":{\"shutdown\":\"Stop\"}");
        assertThat(workflow("build").path("status").path("nodes").path("on-exit").path("phase").asText())
                .isEqualTo("Succeeded");
    }

    @Test
    void suspendAndResume() {
        ObjectNode waiting = Samples.workflow("argo", "build");
        waiting.withObject("/status/nodes")
                .putObject("approve")
                .put("type", "Suspend")
                .put("phase", "Running")
                .put("message", "approve me");
        argo.cluster.put(waiting);

        assertThat(call(handler, "Mutation.suspendWorkflow", "ann", named("argo", "build")).get("suspended"))
                .isEqualTo(true);
        assertThat(call(handler, "Mutation.resumeWorkflow", "ann", named("argo", "build")).get("suspended"))
                .isEqualTo(false);

        assertThat(argo.cluster.changes().getFirst().body()).startsWith("{\"spec\":{\"suspend\":true}");
        JsonNode now = workflow("build");
        assertThat(now.path("spec").has("suspend")).isFalse();
        JsonNode node = now.path("status").path("nodes").path("approve");
        assertThat(node.path("phase").asText()).isEqualTo("Succeeded");
        assertThat(node.path("message").asText()).isEqualTo("approve me; Resumed by: ann");
        assertThat(now.path("metadata").path("labels").path("workflows.argoproj.io/action").asText())
                .isEqualTo("Resume");
    }

    @Test
    void aConflictIsTriedAgainABoundedNumberOfTimes() {
        ObjectNode waiting = Samples.workflow("argo", "build");
        waiting.withObject("/spec").put("suspend", true);
        argo.cluster.put(waiting);

        argo.cluster.conflictNext(2);
        assertThat(call(handler, "Mutation.resumeWorkflow", "ann", named("argo", "build")).get("suspended"))
                .isEqualTo(false);
        assertThat(argo.cluster.changes()).hasSize(3);

        var _ = call(handler, "Mutation.suspendWorkflow", "ann", named("argo", "build"));
        argo.cluster.conflictNext(100);
        reason(refused(handler, "Mutation.resumeWorkflow", "ann", named("argo", "build")), Reason.CONFLICT,
                "the object has been modified");
        assertThat(argo.cluster.changes()).hasSize(4 + 1 + Resources.TRIES_AGAIN);
    }

    @Test
    void whatWasGivenAwayMeanwhileIsNotChanged() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        for (String field : List.of("terminateWorkflow", "suspendWorkflow")) {
            argo.cluster.change("Workflow", "argo", "build", TEAM.formatted("red"));
            argo.access.meanwhile = () -> argo.cluster.change("Workflow", "argo", "build",
                    TEAM.formatted("blue"));

            reason(refused(handler, "Mutation." + field, "ann", named("argo", "build")), Reason.FORBIDDEN,
                    null);
        }

        assertThat(workflow("build").path("spec").has("shutdown")).isFalse();
        assertThat(workflow("build").path("spec").has("suspend")).isFalse();
    }

    @Test
    void aRetryDeletesNoPodOfWhatWasGivenAway() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        var _ = call(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build"));
        argo.access.meanwhile = () -> argo.cluster.change("Workflow", "argo", "build",
                TEAM.formatted("blue"));

        reason(refused(handler, "Mutation.retryWorkflow", "ann", named("argo", "build")), Reason.FORBIDDEN,
                null);

        assertThat(argo.cluster.changes()).noneMatch(change -> change.method().equals("DELETE"));
        assertThat(workflow("build").path("status").path("phase").asText()).isEqualTo("Failed");
    }

    @Test
    void whatIsBusyMeanwhileIsStillChanged() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.access.meanwhile = () -> argo.cluster.change("Workflow", "argo", "build",
                "{\"status\":{\"progress\":\"1/2\"}}");

        assertThat(call(handler, "Mutation.stopWorkflow", "ann", named("argo", "build")).get("shutdown"))
                .isEqualTo("Stop");
    }

    @Test
    void aNamesakeOfWhatWasJudgedIsNotChanged() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.access.meanwhile = () -> argo.cluster.replace(Samples.workflow("argo", "build"));

        reason(refused(handler, "Mutation.stopWorkflow", "ann", named("argo", "build")), Reason.CONFLICT,
                "replaced by another one");

        assertThat(workflow("build").path("spec").has("shutdown")).isFalse();
    }

    @Test
    void retryRunsWhatFailedAgain() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.cluster.put(Samples.pod("argo", "build", "build-main-1903120527"));
        reason(refused(handler, "Mutation.retryWorkflow", "ann", named("argo", "build")), Reason.CONFLICT,
                "Cannot retry a workflow in phase Running");
        var _ = call(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build"));

        var _ = call(handler, "Mutation.retryWorkflow", "ann", named("argo", "build"));

        JsonNode now = workflow("build");
        assertThat(now.path("spec").has("shutdown")).isFalse();
        assertThat(now.path("status").path("phase").asText()).isEqualTo("Running");
        assertThat(now.path("status").path("nodes").has("build-1")).isFalse();
        assertThat(now.path("status").path("nodes").path("build").path("phase").asText())
                .isEqualTo("Running");
        assertThat(argo.cluster.changes()).anySatisfy(change -> {
            assertThat(change.method()).isEqualTo("DELETE");
            assertThat(change.path()).startsWith("/api/v1/namespaces/argo/pods/build-main-");
        });
    }

    @Test
    void resubmitMakesANewOne() {
        argo.cluster.put(Samples.workflow("argo", "build"));

        var answer = call(handler, "Mutation.resubmitWorkflow", "ann", named("argo", "build"));

        assertThat((String) answer.get("name")).startsWith("build-").isNotEqualTo("build");
        JsonNode made = workflow(String.valueOf(answer.get("name")));
        assertThat(made.path("metadata")
                .path("labels")
                .path("workflows.argoproj.io/resubmitted-from-workflow")
                .asText())
                .isEqualTo("build");
        assertThat(made.path("metadata").path("labels").path("team").asText()).isEqualTo("red");
        assertThat(made.path("spec").path("entrypoint").asText()).isEqualTo("main");
    }

    @Test
    void whoMayNotChangesNothingAndLearnsNothing() {
        argo.cluster.put(Samples.workflow("argo", "build"));

        for (WorkflowChange change : WorkflowChange.values()) {
            String field = "Mutation." + change.verb() + "Workflow";
            reason(refused(handler, field, "bob", named("argo", "build")), Reason.FORBIDDEN, null);
            reason(refused(handler, field, "bob", named("argo", "none")), Reason.FORBIDDEN, null);
            reason(refused(handler, field, "eve", named("argo", "build")), Reason.UNAUTHORIZED, null);
        }

        assertThat(argo.cluster.changes()).isEmpty();
        assertThat(argo.access.changed).isEmpty();
    }

    @Test
    void rulesAreAskedWithEverythingTheyMayLookAt() {
        argo.cluster.put(Samples.workflow("argo", "build"));

        var _ = call(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build"));

        var asked = argo.access.changed.getFirst();
        assertThat(asked.action()).isEqualTo("TERMINATE");
        assertThat(asked.entity()).isEqualTo("workflows");
        assertThat(asked.object()).isEqualTo("argo/build");
        assertThat(asked.attributes()).containsEntry("namespace", "argo")
                .containsEntry("cluster", "in-cluster")
                .containsEntry("runtime", "acme/prod")
                .containsEntry("label", "team=red,workflows.argoproj.io/phase=Running");
    }

    @Test
    void namesThatAreNoneNeverReachTheCluster() {
        for (String name : List.of("../pods/x", "a/b", "A", "", "a?b", "a%2fb")) {
            reason(refused(handler, "Mutation.terminateWorkflow", "ann", named("argo", name)),
                    Reason.BAD_REQUEST,
                    null);
        }
        reason(refused(handler, "Mutation.terminateWorkflow", "ann", named("argo", "none")), Reason.NOT_FOUND,
                "there is no workflow argo/none");
    }

    @Test
    void eventsComeAsTheyHappen() {
        argo.cluster.put(Samples.workflow("argo", "build"));

        StepVerifier.create(body("/app-proxy/api/workflows/events/argo", "ann"), 1)
                .assertNext(says("\"type\":\"ADDED\""))
                .then(() -> call(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build")))
                .thenRequest(1)
                .assertNext(says("\"shutdown\":\"Terminate\""))
                .thenCancel()
                .verify(TIME);
    }

    @Test
    void logsComeAsTheyAreWritten() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.cluster.put(Samples.pod("argo", "build", "build-1"));
        PodLog log = argo.cluster.log("argo", "build-1").write("one");

        StepVerifier.create(body("/app-proxy/api/workflows/argo/build/log?follow=true", "ann"))
                .assertNext(says("data: {\"result\":{\"content\":\"one\",\"podName\":\"build-1\"}}\n\n"))
                .then(() -> log.write("two"))
                .assertNext(says("\"two\""))
                .then(log::end)
                .then(() -> call(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build")))
                .expectComplete()
                .verify(TIME);
    }

    @Test
    void aReaderWhoLeavesEndsTheStreamAtItsSource() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        argo.cluster.put(Samples.pod("argo", "build", "build-1"));
        PodLog log = argo.cluster.log("argo", "build-1").write("one");

        StepVerifier.create(body("/app-proxy/api/workflows/argo/build/log?follow=true", "ann"))
                .assertNext(says("one"))
                .thenCancel()
                .verify(TIME);

        await().atMost(TIME).until(() -> log.followers() == 0);
    }

    @Test
    void streamsAreBounded() {
        argo.cluster.put(Samples.workflow("argo", "build"));
        var first = open("/app-proxy/api/workflows/events/argo", "ann");
        var second = open("/app-proxy/api/workflows/events/argo", "ann");

        StepVerifier.create(handler.handle(get("/app-proxy/api/workflows/events/argo", "ann")))
                .verifyErrorSatisfies(e -> reason((HandlerException) e, Reason.OVERLOADED, null));

        first.subscribe().dispose();
        second.subscribe().dispose();
        open("/app-proxy/api/workflows/events/argo", "ann").subscribe().dispose();
    }

    @Test
    void streamsAskForPermissionToo() {
        argo.cluster.put(Samples.workflow("argo", "build"));

        for (String path : List.of("events/argo", "argo/build/log")) {
            StepVerifier.create(handler.handle(get("/app-proxy/api/workflows/" + path, "bob")))
                    .verifyErrorSatisfies(e -> reason((HandlerException) e, Reason.FORBIDDEN, null));
        }
    }

    @Test
    void aClusterThatIsAwayIsUnavailable() {
        argo.cluster.stop().block(TIME);

        reason(refused(handler, "Mutation.terminateWorkflow", "ann", named("argo", "build")),
                Reason.UNAVAILABLE,
                "the Kubernetes API can't be reached");
    }

    private Flux<ByteBuf> open(String target, String user) {
        return ((EdgeResponse.Http) Objects.requireNonNull(handler.handle(get(target, user)).block(TIME)))
                .body();
    }

    private Flux<ByteBuf> body(String target, String user) {
        return handler.handle(get(target, user)).flatMapMany(answer -> ((EdgeResponse.Http) answer).body());
    }

    private JsonNode workflow(String name) {
        return argo.cluster.get("Workflow", "argo", name);
    }
}
