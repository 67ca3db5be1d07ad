package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.relay.observe.RequestPage;
import dev.culvert.relay.observe.RequestRecord;
import dev.culvert.server.access.AccessJson;
import dev.culvert.server.admin.AdminApi;
import dev.culvert.server.admin.AdminJson;
import dev.culvert.server.admin.LimitJson;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

public class OpenApiTest {
    private static final Set<String> METHODS = Set.of("get", "put", "post", "delete", "patch");
    /** Answered by the filter in front of the API. */
    private static final Set<String> HEALTH = Set.of("GET /healthz", "GET /readyz", "GET /metrics");

    private final JsonNode document = document();

    @Test
    void everyRouteIsDescribedAndNothingElse(@TempDir Path folder) {
        Set<String> described = new TreeSet<>(operations().keySet());
        try (var server = new AdminServer(folder)) {
            Set<String> served = new TreeSet<>(HEALTH);
            server.api.routes().forEach(route -> served.add(route.method() + " " + route.template()));

            assertThat(described).isEqualTo(served);
        }
    }

    @Test
    void callsBelowApiNeedTheTokenAndOnlyThose() {
        operations().forEach((name, operation) -> {
            assertThat(operation.has("security")).as(name).isEqualTo(!name.contains(" /api/"));
            assertThat(operation.path("responses").has("401")).as(name).isEqualTo(name.contains(" /api/"));
        });
        assertThat(document.at("/security/0").has("token")).isTrue();
    }

    @Test
    void schemasHaveTheMembersThatAreAnswered() {
        assertMembers("Runtime", AdminJson.RuntimeView.class);
        assertMembers("CreatedRuntime", AdminJson.CreatedRuntimeView.class);
        assertMembers("ProvidedRuntime", AdminJson.ProvidedRuntimeView.class);
        assertMembers("HostedRuntime", AdminJson.HostedRuntimeView.class);
        assertMembers("EnrolmentToken", AdminJson.TokenView.class);
        assertMembers("Tunnel", AdminJson.TunnelView.class);
        assertMembers("RuntimeTunnel", AdminJson.RuntimeTunnelView.class);
        assertMembers("RuntimePage", JsonAnswer.Page.class);
        assertMembers("TunnelPage", JsonAnswer.Page.class);
        assertMembers("WaitingClient", AdminJson.WaitingView.class);
        assertMembers("TunnelEvent", AdminJson.TunnelEventView.class);
        assertMembers("AdminToken", AdminJson.AdminTokenView.class);
        assertMembers("IssuedAdminToken", AdminJson.IssuedAdminTokenView.class);
        assertMembers("AdminTokenPage", JsonAnswer.Page.class);
        assertMembers("AuditEntry", AdminJson.AuditView.class);
        assertMembers("AuditPage", JsonAnswer.Page.class);
        assertMembers("RequestRecord", RequestRecord.class);
        assertMembers("RequestPage", RequestPage.class);
        assertMembers("Limits", LimitJson.LimitsView.class);
        assertMembers("OwnLimits", LimitJson.OwnLimitsView.class);
        assertMembers("LimitsInForce", LimitJson.LimitsInForceView.class);
        assertMembers("Access", AccessJson.AccessView.class);
        assertMembers("OwnAccess", AccessJson.OwnAccessView.class);
        assertMembers("Usage", LimitJson.UsageView.class);
        assertMembers("Refused", LimitJson.RefusedView.class);
    }

    @Test
    void everyReferenceLeadsSomewhere() {
        List<String> references = document.findValuesAsText("$ref");

        assertThat(references).isNotEmpty()
                .allSatisfy(reference -> assertThat(
                        document.at(reference.substring(1)).isMissingNode()).as(reference).isFalse());
    }

    private void assertMembers(String schema, Class<? extends Record> view) {
        JsonNode described = document.at("/components/schemas/" + schema);
        List<String> required = new ArrayList<>();
        described.path("required").forEach(member -> required.add(member.asText()));

        List<String> members = Arrays.stream(view.getRecordComponents())
                .map(RecordComponent::getName)
                .toList();
        assertThat(described.path("properties").fieldNames()).toIterable()
                .as(schema)
                .containsExactlyElementsOf(members);
        assertThat(required).as(schema)
                .containsExactlyElementsOf(members.stream()
                        .filter(member -> !schema.equals("Runtime") || !member.equals("upstream"))
                        .toList());
    }

    private Map<String, JsonNode> operations() {
        Map<String, JsonNode> operations = new TreeMap<>();
        document.path("paths")
                .properties()
                .forEach(path -> path.getValue().properties().forEach(operation -> {
                    if (METHODS.contains(operation.getKey())) {
                        operations.put(operation.getKey().toUpperCase(Locale.ROOT) + " " + path.getKey(),
                                operation.getValue());
                    }
                }));
        return operations;
    }

    public static JsonNode document() {
        try (InputStream stream = AdminApi.class.getResourceAsStream("openapi.yaml")) {
            return new JsonMapper()
                    .valueToTree(new Load(LoadSettings.builder().build()).loadFromInputStream(stream));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
