package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.output.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code culvert runtime limits ACCOUNT NAME}: changes a runtime's own limits and shows the effective ones.
 */
@Command(name = "limits", description = "Gives a runtime limits of its own; without options it tells those in force. A change holds for the next request.", footer = {
        "", "Example:", "  culvert runtime limits acme prod --requests-per-second 50 --max-body-bytes 25MiB"})
final class RuntimeLimitsCommand extends AdminCommand {
    private static final List<String> KEYS = List.of("maxStreams", "requestsPerSecond", "requestBurst",
            "maxBodyBytes", "bytesPerSecond");

    @Mixin
    private RuntimeArguments runtime = new RuntimeArguments();
    @Option(names = "--max-streams", paramLabel = "N", description = "Concurrent streams; more is answered 503.")
    private @Nullable String maxStreams;
    @Option(names = "--requests-per-second", paramLabel = "N", description = "More is answered 429; 0 for no limit.")
    private @Nullable String requestsPerSecond;
    @Option(names = "--request-burst", paramLabel = "N", description = "Requests at once after a pause; 0 for as many as per second.")
    private @Nullable String requestBurst;
    @Option(names = "--max-body-bytes", paramLabel = "SIZE", description = "Of a request body, as 25MiB; more is answered 413; 0 for no limit.")
    private @Nullable String maxBodyBytes;
    @Option(names = "--bytes-per-second", paramLabel = "SIZE", description = "Of bodies, in each direction, as 10MiB; more wait; 0 for no limit.")
    private @Nullable String bytesPerSecond;
    @Option(names = "--defaults", description = "Forgets the runtime's own limits first: what no option gives is as for other runtimes.")
    private boolean defaults;

    @Override
    AdminClient.Answer ask(AdminClient api) {
        String path = runtime.path() + "/limits";
        Map<String, Object> given = given();
        if (defaults) {
            return api.call("PUT", path, given);
        }
        AdminClient.Answer shown = api.call("GET", path, null);
        return given.isEmpty() || !shown.ok()
                ? shown
                : api.call("PUT", path, over(shown.json().path("own"), given));
    }

    private Map<String, Object> given() {
        Map<String, Object> given = new LinkedHashMap<>();
        put(given, "maxStreams", maxStreams);
        put(given, "requestsPerSecond", requestsPerSecond);
        put(given, "requestBurst", requestBurst);
        put(given, "maxBodyBytes", maxBodyBytes);
        put(given, "bytesPerSecond", bytesPerSecond);
        return given;
    }

    private static void put(Map<String, Object> given, String key, @Nullable String value) {
        if (value != null) {
            given.put(key, value);
        }
    }

    /** The runtime's own limits, overridden by the given ones. */
    private static Map<String, Object> over(JsonNode own, Map<String, Object> given) {
        Map<String, Object> all = new LinkedHashMap<>();
        own.properties().forEach(limit -> {
            if (!limit.getValue().isNull()) {
                all.put(limit.getKey(), limit.getValue().asText());
            }
        });
        all.putAll(given);
        return all;
    }

    @Override
    String table(JsonNode answer) {
        var rows = new ArrayList<List<String>>();
        rows.add(List.of("LIMIT", "IN FORCE", "OWN"));
        for (String key : KEYS) {
            JsonNode own = answer.path("own").path(key);
            rows.add(List.of(key, answer.path("inForce").path(key).asText(),
                    own.isNumber() ? own.asText() : "-"));
        }
        return TextTable.of(rows);
    }
}
