package dev.culvert.platform.runtimes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.platform.runtimes.store.RuntimeAccount;
import dev.culvert.platform.runtimes.store.ServerState;
import dev.culvert.platform.runtimes.store.StoredRuntime;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runtimes and their components as the types of the schema have them. */
final class RuntimeView {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String UNKNOWN = "UNKNOWN";
    private static final String DEGRADED = "DEGRADED";

    private final RuntimesSettings settings;

    RuntimeView(RuntimesSettings settings) {
        this.settings = settings;
    }

    /** The type {@code Runtime}. */
    Map<String, Object> runtime(StoredRuntime runtime, RuntimeAccount account) {
        Map<String, Object> document = object(runtime.document());
        List<Map<String, Object>> errors = list(runtime.reported());
        Map<String, Object> view = new LinkedHashMap<>(document);
        view.put("metadata", metadata(runtime, runtime.name(), document.get("runtimeNamespace")));
        Map<String, @Nullable Object> health = health(runtime, errors);
        view.put("self", health);
        health.forEach((key, value) -> put(view, key, value));
        view.put("errors", errors);
        put(view, "clusterUid", runtime.clusterUid());
        view.put("managed", runtime.managed());
        view.put("isRemoteClusterConnected", false);
        view.put("managedClustersNum", 0);
        if (!document.containsKey("ingressHost") && !runtime.accessMode().equals("INGRESS")) {
            put(view, "ingressHost", settings.publicUrl(runtime.account(), runtime.name()));
        }
        view.put("installationStatus", "IN_PROGRESS");
        view.putIfAbsent("installationType", runtime.managed() ? "HELM_HOSTED" : "HELM");
        view.put("accessMode", runtime.accessMode());
        view.put("legacyRoutes", runtime.legacyRoutes());
        view.put("isConfigurationRuntime", runtime.name().equals(account.configuration()));
        view.put("tunnelServer", runtime.serverState().name().toLowerCase(Locale.ROOT)
                + (runtime.serverDetail() == null ? "" : ": " + runtime.serverDetail()));
        return view;
    }

    private static Map<String, @Nullable Object> health(StoredRuntime runtime,
            List<Map<String, Object>> errors) {
        String message = runtime.serverState() == ServerState.REFUSED
                ? "the tunnel server refuses it"
                : runtime.managed()
                        ? "no external cluster is connected"
                        : errors.isEmpty() ? null : String.valueOf(errors.getFirst().get("message"));
        Map<String, @Nullable Object> health = new LinkedHashMap<>();
        health.put("syncStatus", UNKNOWN);
        health.put("healthStatus", message == null ? UNKNOWN : DEGRADED);
        health.put("healthMessage", message);
        return health;
    }

    /** The components of a runtime, the type {@code ComponentSlice}. */
    Map<String, Object> components(StoredRuntime runtime) {
        Map<String, Object> document = object(runtime.document());
        List<Map<String, Object>> edges = new ArrayList<>();
        if (document.get("componentNames") instanceof List<?> names) {
            for (Object name : names) {
                edges.add(Map.of("cursor", name, "node", Map.of("metadata",
                        metadata(runtime, name.toString(), document.get("runtimeNamespace")), "version",
                        document.getOrDefault("runtimeVersion", ""), "self",
                        Map.of("status", Map.of("syncStatus", UNKNOWN, "healthStatus", UNKNOWN), "errors",
                                List.of()))));
            }
        }
        return Map.of("edges", edges, "pageInfo", pageInfo(edges, false, false));
    }

    /** A page, the type {@code RuntimeSlice}. */
    Map<String, Object> slice(Runtimes.Page page, boolean before, boolean after) {
        List<Map<String, Object>> edges = page.runtimes()
                .stream()
                .map(runtime -> Map.of("cursor", runtime.name(), "node", runtime(runtime, page.account())))
                .toList();
        return Map.of("edges", edges, "pageInfo", pageInfo(edges, after, before));
    }

    private static Map<String, Object> pageInfo(List<Map<String, Object>> edges, boolean next,
            boolean previous) {
        Map<String, Object> info = new LinkedHashMap<>();
        if (!edges.isEmpty()) {
            put(info, "startCursor", edges.getFirst().get("cursor"));
            put(info, "endCursor", edges.getLast().get("cursor"));
        }
        info.put("hasNextPage", next);
        info.put("hasPrevPage", previous);
        return info;
    }

    private static Map<String, Object> metadata(StoredRuntime runtime, String name,
            @Nullable Object namespace) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("name", name);
        put(metadata, "namespace", namespace);
        metadata.put("runtime", runtime.name());
        metadata.put("account", runtime.account());
        metadata.put("created", Instant.ofEpochSecond(runtime.created()).toString());
        return metadata;
    }

    private static void put(Map<String, Object> view, String key, @Nullable Object value) {
        if (value != null) {
            view.put(key, value);
        }
    }

    private static Map<String, Object> object(String json) {
        try {
            return JSON.readValue(json, new TypeReference<LinkedHashMap<String, Object>>() {
            });
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("documents are JSON", e);
        }
    }

    private static List<Map<String, Object>> list(String json) {
        try {
            return JSON.readValue(json, new TypeReference<List<Map<String, Object>>>() {
            });
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("documents are JSON", e);
        }
    }
}
