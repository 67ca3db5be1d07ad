package dev.culvert.relay.route;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.config.ConfigException;
import dev.culvert.http.path.HostTemplate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the JSON form of an announcement:
 *
 * <pre>
 * {"routes":[{"path":"/webhooks/{namespace}/{eventSource}/","durable":true,"to":"{eventSource}xxxx.{namespace}.xxx",
 *    "host":"*.example.com","methods":["POST"],"headers":{"x-env":"staging"},"sources":["192.0.2.0/24"],
 *    "order":"source","maxBodyBytes":26214400,"verify":"github","secrets":["aHVzaA=="]}],
 *  "webhooks":["argo/*"],"requests":{"allow":[{"path":"/webhooks/","methods":["POST"]}],"deny":[]}}
 * </pre>
 */
final class AnnouncementJson {
    private static final int MAX_DEPTH = 8;
    private static final JsonMapper JSON = JsonMapper
            .builder(JsonFactory.builder()
                    .streamReadConstraints(
                            StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private AnnouncementJson() {}

    // ---- writing ----

    static byte[] write(Announcement announcement) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        ArrayNode routes = document.putArray("routes");
        announcement.routes().forEach(route -> route(route, routes.addObject()));
        texts(document, "webhooks", announcement.webhooks());
        ObjectNode requests = document.putObject("requests");
        rules(requests, "allow", announcement.requests().allow());
        rules(requests, "deny", announcement.requests().deny());
        return document.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void route(AnnouncedRoute route, ObjectNode to) {
        RouteRule rule = route.rule();
        to.put("path", rule.path().toString()).put("to", route.host().masked().toString());
        if (rule.host() != null) {
            to.put("host", rule.host());
        }
        texts(to, "methods", rule.methods());
        if (!rule.fields().isEmpty()) {
            ObjectNode fields = to.putObject("headers");
            rule.fields()
                    .forEach(field -> fields.put(field.name(),
                            field.value() == null ? FieldRule.PRESENT : field.value()));
        }
        texts(to, "sources", route.sources().blocks().stream().map(Object::toString).toList());
        if (route.durable()) {
            to.put("durable", true)
                    .put("order", route.inOrder() ? "source" : "none")
                    .put("maxBodyBytes", route.maxBodyBytes());
        }
        if (route.verify() != null) {
            verification(route.verify(), to);
        }
    }

    /**
     * Writes a verification. An absent {@code secrets} member differs from an empty list, which refuses every
     * webhook.
     */
    private static void verification(Verification verify, ObjectNode to) {
        to.put("verify", word(verify.provider()));
        if (verify.shared() != null) {
            ArrayNode secrets = to.putArray("secrets");
            verify.shared().list().forEach(secrets::add); // written as Base64
        }
    }

    private static void rules(ObjectNode to, String name, List<RequestRule> rules) {
        ArrayNode array = to.putArray(name);
        rules.forEach(rule -> texts(array.addObject().put("path", rule.path().toString()), "methods",
                rule.methods()));
    }

    private static void texts(ObjectNode to, String name, List<String> texts) {
        if (!texts.isEmpty()) {
            ArrayNode array = to.putArray(name);
            texts.forEach(array::add);
        }
    }

    private static String word(Verification.Provider provider) {
        return provider.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    // ---- reading ----

    static Announcement read(byte[] json) {
        try {
            JsonNode document = JSON.readTree(json);
            if (!document.isObject()) {
                throw new IllegalArgumentException("not a JSON object");
            }
            JsonNode requests = document.path("requests");
            return new Announcement(list(document, "routes", AnnouncementJson::route),
                    list(document, "webhooks", AnnouncementJson::text),
                    new RequestPolicy(list(requests, "allow", AnnouncementJson::rule),
                            list(requests, "deny", AnnouncementJson::rule)));
        } catch (IOException e) {
            throw new IllegalArgumentException("not the JSON of an announcement", e);
        } catch (ConfigException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private static AnnouncedRoute route(JsonNode node) {
        JsonNode host = node.path("host");
        boolean durable = flag(node.path("durable"));
        RouteRule rule = RouteRule.of(text(node.path("path")), host.isMissingNode() ? null : text(host),
                list(node, "methods", AnnouncementJson::text), fields(node.path("headers")));
        return new AnnouncedRoute(rule, durable, !durable || inOrder(text(node.path("order"))),
                durable ? number(node.path("maxBodyBytes")) : AnnouncedRoute.USUAL_BODY_BYTES,
                verification(node),
                SourceList.parse(list(node, "sources", AnnouncementJson::text)),
                HostTemplate.of(bounded(text(node.path("to")))));
    }

    private static @Nullable Verification verification(JsonNode node) {
        JsonNode verify = node.path("verify");
        boolean shared = node.has("secrets");
        if (!verify.isMissingNode()) {
            return new Verification(provider(text(verify)), null, shared
                    ? SigningSecrets.of(list(node, "secrets", AnnouncementJson::secret))
                    : null);
        }
        if (shared) {
            throw new IllegalArgumentException("secrets without a provider");
        }
        return null;
    }

    /**
     * Decodes a secret. Returns an empty array, which no secret is, if the text is not Base64: the JDK's
     * exception would quote a part of it.
     */
    private static byte[] secret(JsonNode node) {
        String text = text(node);
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException noBase64) {
            return new byte[0];
        }
    }

    private static RequestRule rule(JsonNode node) {
        return RequestRule.of(text(node.path("path")), list(node, "methods", AnnouncementJson::text));
    }

    private static Map<String, String> fields(JsonNode node) {
        if (!node.isMissingNode() && !node.isObject()) {
            throw new IllegalArgumentException("headers is not an object");
        }
        Map<String, String> fields = new LinkedHashMap<>();
        node.properties().forEach(field -> fields.put(field.getKey(), text(field.getValue())));
        return fields;
    }

    private static <T> List<T> list(JsonNode node, String name, Function<JsonNode, T> element) {
        JsonNode array = node.path(name);
        if (!array.isMissingNode() && !array.isArray()) {
            throw new IllegalArgumentException(name + " is not a list");
        }
        List<T> list = new ArrayList<>(array.size());
        array.forEach(each -> list.add(element.apply(each)));
        return list;
    }

    private static String text(@Nullable JsonNode node) {
        if (node == null || !node.isTextual()) {
            throw new IllegalArgumentException("a value is not a string");
        }
        return node.textValue();
    }

    private static String bounded(String host) {
        if (host.length() > 1024) {
            throw new IllegalArgumentException("a host of " + host.length() + " characters");
        }
        return host;
    }

    private static boolean flag(JsonNode node) {
        if (!node.isMissingNode() && !node.isBoolean()) {
            throw new IllegalArgumentException("a value is neither true nor false");
        }
        return node.asBoolean();
    }

    private static long number(JsonNode node) {
        if (!node.isIntegralNumber() || !node.canConvertToLong()) {
            throw new IllegalArgumentException("a value is not an integer");
        }
        return node.longValue();
    }

    private static boolean inOrder(String word) {
        return switch (word) {
            case "source" -> true;
            case "none" -> false;
            default -> throw new IllegalArgumentException("an order that is neither source nor none");
        };
    }

    private static Verification.Provider provider(String word) {
        for (Verification.Provider provider : Verification.Provider.values()) {
            if (word(provider).equals(word)) {
                return provider;
            }
        }
        throw new IllegalArgumentException("an unknown provider");
    }
}
