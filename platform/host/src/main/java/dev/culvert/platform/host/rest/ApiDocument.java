package dev.culvert.platform.host.rest;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Collects the calls of all modules and writes the OpenAPI 3.1 document. Filled by {@code create} of the
 * modules, one after the other, and read after that.
 */
public final class ApiDocument {
    private static final Pattern SEGMENT = Pattern.compile("\\{([a-zA-Z]+)}");
    private static final String JSON = "application/json";

    private final SortedMap<String, Map<String, Object>> paths = new TreeMap<>();
    private final SortedMap<String, Object> schemas = new TreeMap<>();

    /** Adds the calls of a module. */
    public void add(String module, List<RestCall> calls) {
        calls.forEach(call -> operation(call.method().name(), call.template().toString(),
                operation(module, call)));
    }

    /** Adds a page that needs no credentials. */
    public void add(String module, String path, String summary, String mediaType) {
        operation("GET", path, ordered("tags", List.of(module), "summary", summary, "security", List.of(),
                "responses", Map.of("200", ordered("description", "OK", "content",
                        Map.of(mediaType, Map.of())))));
    }

    /** Adds the GraphQL endpoint. */
    public void addGraphQl(String module, String path) {
        operation("POST", path, ordered("tags", List.of(module), "summary",
                "Answers a GraphQL document; /graphql.sdl has the schema", "requestBody",
                ordered("required", true, "content", Map.of(JSON, Map.of())), "responses",
                Map.of("200", ordered("description", "OK", "content", Map.of(JSON, Map.of())))));
    }

    private void operation(String method, String path, Map<String, Object> operation) {
        Map<String, Object> there = paths.computeIfAbsent(path, absent -> new TreeMap<>());
        List<Map<String, Object>> segments = new ArrayList<>();
        Matcher segment = SEGMENT.matcher(path);
        while (segment.find()) {
            segments.add(ordered("name", segment.group(1), "in", "path", "required", true, "schema",
                    Map.of("type", "string")));
        }
        if (!segments.isEmpty()) {
            there.put("parameters", segments);
        }
        there.put(method.toLowerCase(Locale.ROOT), operation);
    }

    /** The document, as JSON. */
    public byte[] json(String version) {
        return JsonBodies.bytes(ordered("openapi", "3.1.0",
                "info", ordered("title", "Culvert control plane", "version", version),
                "security", List.of(Map.of("key", List.of())),
                "paths", paths,
                "components", ordered("schemas", schemas, "securitySchemes",
                        Map.of("key", ordered("type", "apiKey", "in", "header", "name", "Authorization",
                                "description", "An API key, bare or after Bearer")))));
    }

    private Map<String, Object> operation(String module, RestCall call) {
        Map<String, Object> operation = ordered("tags", List.of(module), "summary", call.summary(),
                "description", switch (call.who()) {
                    case ANYONE -> "Without a key: the call has a secret of its own.";
                    case HOLDER -> "For every key.";
                    case MEMBER -> "For users whom rules allow "
                            + right(call)
                            + ", and administrators; operators may name another account.";
                    case ADMIN -> "For administrators of the account; operators may name another.";
                    case OPERATOR -> "For operators.";
                    case RUNTIME -> "For keys of runtimes.";
                });
        List<Map<String, Object>> query = new ArrayList<>();
        CallQuery.known(call)
                .forEach(name -> query.add(ordered("name", name, "in", "query", "required", false, "schema",
                        Map.of("type", switch (name) {
                            case CallQuery.FORCE -> "boolean";
                            case CallQuery.LIMIT -> "integer";
                            default -> "string";
                        }))));
        if (!query.isEmpty()) {
            operation.put("parameters", query);
        }
        if (call.who() == RestCall.Who.ANYONE) {
            operation.put("security", List.of());
        }
        Map<String, Object> content = body(module, call.takes());
        if (!content.isEmpty()) {
            operation.put("requestBody", ordered("required", true, "content", content));
        }
        operation.put("responses", responses(module, call));
        return operation;
    }

    private static String right(RestCall call) {
        Right right = call.right();
        return right == null ? "it" : right.action() + " on " + right.entity();
    }

    private Map<String, Object> body(String module, RestCall.Takes takes) {
        Map<String, Object> content = new TreeMap<>();
        Class<? extends Record> record = takes.body();
        RawBody raw = takes.raw();
        if (record != null) {
            content.put(JSON, Map.of("schema", reference(module, record)));
        } else if (raw != null && raw.mediaTypes().isEmpty()) {
            content.put("*/*", Map.of());
        } else if (raw != null) {
            raw.mediaTypes().forEach(type -> content.put(type, Map.of()));
        }
        return content;
    }

    private Map<String, Object> responses(String module, RestCall call) {
        Map<String, Object> responses = new LinkedHashMap<>();
        Class<? extends Record> gives = call.gives();
        if (gives == null) {
            responses.put("204", Map.of("description", "Done"));
        } else {
            Object schema = call.form() == RestCall.Form.LIST || call.form() == RestCall.Form.PAGES
                    ? ordered("type", "object", "required", List.of("items", "next"), "properties",
                            ordered("items", ordered("type", "array", "items", reference(module, gives)),
                                    "next", Map.of("type", List.of("string", "null"))))
                    : reference(module, gives);
            responses.put(call.creates() ? "201" : "200",
                    ordered("description", "OK", "content", Map.of(JSON, Map.of("schema", schema))));
        }
        responses.put("default", ordered("description", "A problem (RFC 9457)", "content",
                Map.of("application/problem+json", Map.of())));
        return responses;
    }

    private Map<String, Object> reference(String module, Class<?> type) {
        String name = module + "." + type.getSimpleName();
        if (!schemas.containsKey(name)) {
            Map<String, Object> properties = new LinkedHashMap<>();
            schemas.put(name, properties); // before its components, which may refer to it
            List<String> required = new ArrayList<>();
            for (RecordComponent component : type.getRecordComponents()) {
                boolean optional = component.getAnnotatedType().isAnnotationPresent(Nullable.class);
                properties.put(component.getName(), schema(module, component.getGenericType(), optional));
                if (!optional) {
                    required.add(component.getName());
                }
            }
            schemas.put(name, ordered("type", "object", "required", required, "properties", properties));
        }
        return Map.of("$ref", "#/components/schemas/" + name);
    }

    private Map<String, Object> schema(String module, Type type, boolean optional) {
        if (type instanceof ParameterizedType generic && generic.getRawType() == List.class) {
            return ordered("type", "array", "items",
                    schema(module, generic.getActualTypeArguments()[0], false));
        }
        if (type instanceof ParameterizedType generic && generic.getRawType() == Map.class) {
            return ordered("type", "object", "additionalProperties",
                    schema(module, generic.getActualTypeArguments()[1], false));
        }
        if (type instanceof Class<?> plain && plain.isRecord()) {
            return reference(module, plain);
        }
        if (type instanceof Class<?> plain && plain.isEnum()) {
            return ordered("type", "string", "enum",
                    Arrays.stream(plain.getEnumConstants()).map(String::valueOf).toList());
        }
        String name = type == boolean.class || type == Boolean.class
                ? "boolean"
                : type == int.class || type == long.class || type == Integer.class || type == Long.class
                        ? "integer"
                        : "string";
        return optional ? Map.of("type", List.of(name, "null")) : Map.of("type", name);
    }

    private static Map<String, Object> ordered(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }
}
