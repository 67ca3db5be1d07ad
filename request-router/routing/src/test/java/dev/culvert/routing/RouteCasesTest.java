package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigNode;
import dev.culvert.config.ConfigSources;
import dev.culvert.config.Origin;
import dev.culvert.relay.route.DurableMatch;
import dev.culvert.relay.route.DurableRoutes;
import dev.culvert.relay.route.RouteQuery;
import dev.culvert.relay.route.SigningSecrets;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** The cases of route-cases.csv, which also go over sockets elsewhere, against the table and what the server makes of it. */
class RouteCasesTest {
    private static final Origin ORIGIN = Origin.of("route-cases.json");

    private static RouteTable table;
    private static DurableRoutes announced;

    @BeforeAll
    static void read() throws IOException {
        try (InputStream file = RouteCasesTest.class.getResourceAsStream("/route-cases.json")) {
            ConfigNode node = node(new JsonMapper().readTree(Objects.requireNonNull(file)));
            RoutingConfig config = ConfigBinder
                    .bind(new ConfigSources((ConfigNode.Entries) node, Map.of(), Map.of(), Map.of()),
                            List.of(RoutingConfig.class))
                    .value(RoutingConfig.class);
            table = RouteTable.of(config);
            announced = DurableRoutes.of(config.announcement(secret -> SigningSecrets.NONE));
        }
    }

    private static ConfigNode node(JsonNode json) {
        if (json.isObject()) {
            Map<String, ConfigNode> entries = new LinkedHashMap<>();
            json.properties().forEach(entry -> entries.put(entry.getKey(), node(entry.getValue())));
            return new ConfigNode.Entries(entries, ORIGIN);
        } else if (json.isArray()) {
            List<ConfigNode> items = new ArrayList<>();
            json.forEach(item -> items.add(node(item)));
            return new ConfigNode.Items(items, ORIGIN);
        }
        return new ConfigNode.Scalar(json.asText(), ORIGIN);
    }

    @ParameterizedTest(name = "{0} {1}{2} {3} → {4}")
    @CsvFileSource(resources = "/route-cases.csv", delimiter = '|')
    void aRequestGoesWhereTheCaseSays(String method, String host, String target, @Nullable String fields,
            String expected) {
        RouteQuery query = RouteQuery.of(head(method, host, target, fields), null);

        assertThat(told(query)).isEqualTo(expected);
    }

    /** Whoever keeps the inbox refuses what the router would, and stores what goes to an event source. */
    @ParameterizedTest(name = "{0} {1}{2} {3} → {4}")
    @CsvFileSource(resources = "/route-cases.csv", delimiter = '|')
    void theServerSaysTheSame(String method, String host, String target, @Nullable String fields,
            String expected) {
        DurableMatch match = announced.match(RouteQuery.of(head(method, host, target, fields), null));

        boolean durable = method.equals("POST") && expected.contains("-eventsource-svc.");
        boolean webhook = target.startsWith("/webhooks/");
        if (match instanceof DurableMatch.Refused refused) {
            assertThat(expected).startsWith(refused.problem().cause().status() + " ");
        } else {
            assertThat(match != null).isEqualTo(durable);
            assertThat(webhook && expected.startsWith("40") && !expected.startsWith("404")).isFalse();
        }
    }

    private static Http2Headers head(String method, String host, String target, @Nullable String fields) {
        Http2Headers head = new DefaultHttp2Headers().method(method)
                .authority(host.equals("-") ? "acme-prod.tunnels.test" : host)
                .path(target);
        if (fields != null) {
            for (String field : fields.split("; ", -1)) {
                head.add(field.substring(0, field.indexOf(':')), field.substring(field.indexOf(':') + 2));
            }
        }
        return head;
    }

    private static String told(RouteQuery query) {
        return switch (table.match(query, () -> null)) {
            case RouteMatch.Forward forward ->
                forward.address().host() + ":" + forward.address().port() + " " + forward.target();
            case RouteMatch.Refused refused -> refused.problem().cause().status() + " "
                    + refused.problem().cause().word() + " " + refused.problem().hop().word();
        };
    }
}
