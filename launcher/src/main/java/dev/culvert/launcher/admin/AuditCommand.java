package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.output.TextTable;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code culvert audit}: lists changes with their users and times. */
@Command(name = "audit", footer = {
        "", "Example:",
        "  culvert audit --limit 20"})
public final class AuditCommand extends AdminCommand {
    @Option(names = "--limit", paramLabel = "NUMBER", defaultValue = "100", description = "How many, up to 1000 (default: ${DEFAULT-VALUE}).")
    private int limit;
    @Option(names = "--next", paramLabel = "NEXT", description = "Go on behind a list, with its last line's NEXT.")
    private @Nullable String next;

    @Override
    AdminClient.Answer ask(AdminClient api) {
        return api.call("GET", "/audit?limit=" + limit
                + (next == null ? "" : "&next=" + URLEncoder.encode(next, StandardCharsets.UTF_8)), null);
    }

    @Override
    String table(JsonNode answer) {
        var rows = new ArrayList<List<String>>();
        rows.add(List.of("TIME", "USER", "ACTION", "OBJECT", "ADDRESS"));
        for (JsonNode item : answer.path("items")) {
            rows.add(
                    List.of(item.path("time").asText(), item.path("user").asText(),
                            item.path("action").asText(), item.path("object").asText(),
                            item.path("address").asText()));
        }
        JsonNode more = answer.path("next");
        return TextTable.of(rows) + (more.isTextual() ? "\nmore: --next " + more.asText() : "");
    }
}
