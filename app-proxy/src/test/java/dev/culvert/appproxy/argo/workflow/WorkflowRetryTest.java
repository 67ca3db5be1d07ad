package dev.culvert.appproxy.argo.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.handlers.spi.HandlerException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WorkflowRetryTest {
    private static final String FAILED = """
            {"metadata":{"name":"wf","labels":{"workflows.argoproj.io/completed":"true"}},
             "spec":{"shutdown":"Stop","activeDeadlineSeconds":0},
             "status":{"phase":"Failed","message":"no","finishedAt":"x","conditions":[{"type":"Completed","status":"True"}],
              "nodes":{
               "r":{"id":"r","name":"wf","type":"Steps","phase":"Failed","children":["g0"],"outboundNodes":["b"]},
               "g0":{"id":"g0","name":"wf[0]","type":"StepGroup","phase":"Succeeded","boundaryID":"r","children":["a"]},
               "a":{"id":"a","name":"wf[0].a","templateName":"work","type":"Pod","phase":"Succeeded","boundaryID":"r","children":["g1"]},
               "g1":{"id":"g1","name":"wf[1]","type":"StepGroup","phase":"Failed","boundaryID":"r","message":"child failed","finishedAt":"x","children":["b"]},
               "b":{"id":"b","name":"wf[1].b","templateName":"work","type":"Pod","phase":"Failed","boundaryID":"r"},
               "e":{"id":"e","name":"wf.onExit","templateName":"tidy","type":"Pod","phase":"Succeeded"}}}}
            """;

    @Test
    void whatFailedIsGoneWithItsPod() {
        WorkflowRetry retry = WorkflowRetry.of(Fields.parse(FAILED));

        JsonNode nodes = retry.workflow().path("status").path("nodes");
        assertThat(nodes.properties()).extracting(Map.Entry::getKey).containsExactly("r", "g0", "a", "g1");
        assertThat(nodes.path("g1").path("children")).isEmpty();
        assertThat(nodes.path("r").path("outboundNodes")).isEmpty();
        assertThat(retry.podsToDelete()).containsExactlyInAnyOrder(pod("b"), pod("e"));
    }

    @Test
    void groupsAroundItRunAgainAndWhatSucceededStays() {
        JsonNode nodes = WorkflowRetry.of(Fields.parse(FAILED)).workflow().path("status").path("nodes");

        assertThat(List.of("r", "g1")).allSatisfy(
                id -> assertThat(nodes.path(id).path("phase").asText()).isEqualTo("Running"));
        assertThat(nodes.path("g1").has("message")).isFalse();
        assertThat(List.of("g0", "a")).allSatisfy(
                id -> assertThat(nodes.path(id).path("phase").asText()).isEqualTo("Succeeded"));
    }

    @Test
    void theWorkflowStartsAgain() {
        ObjectNode workflow = WorkflowRetry.of(Fields.parse(FAILED)).workflow();

        assertThat(workflow.path("spec").properties()).isEmpty();
        assertThat(workflow.path("metadata").path("labels").properties()).isEmpty();
        assertThat(workflow.path("status").path("phase").asText("?")).isEmpty();
        assertThat(workflow.path("status").path("conditions")).hasSize(1);
        assertThat(workflow.path("status").path("conditions").path(0).path("status").asText())
                .isEqualTo("False");
    }

    @Test
    void aStepAfterWhichSomethingSucceededStays() {
        ObjectNode workflow = Fields.parse(FAILED);
        workflow.withObject("/status/nodes/b").putArray("children").add("c");
        workflow.withObject("/status/nodes")
                .putObject("c")
                .put("name", "wf[2].c")
                .put("type", "Pod")
                .put("phase", "Succeeded");

        assertThat(WorkflowRetry.of(workflow).workflow().path("status").path("nodes").has("b")).isTrue();
    }

    @Test
    void onlyWhatFailedIsRetried() {
        for (String phase : List.of("Running", "Pending", "Succeeded")) {
            ObjectNode workflow = Fields.parse(FAILED);
            workflow.withObject("/status").put("phase", phase);

            assertThatThrownBy(() -> WorkflowRetry.of(workflow)).isInstanceOf(HandlerException.class);
        }
    }

    @Test
    void nodesKeptElsewhereAreLeftToTheArgoServer() {
        ObjectNode workflow = Fields.parse(FAILED);
        workflow.withObject("/status").put("offloadNodeStatusVersion", "fnv:1");

        assertThatThrownBy(() -> WorkflowRetry.of(workflow))
                .hasMessageContaining("handlers.workflows.argoWorkflows");
    }

    @Test
    void podsAreNamedAsArgoNamesThem() {
        JsonNode workflow = Fields.parse("{\"metadata\":{\"name\":\"wfname\"}}");
        JsonNode node = Fields
                .parse("{\"id\":\"nodeid\",\"name\":\"nodename\",\"templateName\":\"templatename\"}");

        assertThat(WorkflowRetry.podName(workflow, node)).isEqualTo("wfname-templatename-1454367246");
    }

    private static String pod(String id) {
        JsonNode workflow = Fields.parse(FAILED);
        return WorkflowRetry.podName(workflow, workflow.path("status").path("nodes").path(id));
    }
}
