package dev.culvert.launcher.follow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.output.Printable;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code culvert events}: shows what happens to runtimes and webhooks. */
@Command(name = "events", footer = {"", "Examples:", "  culvert events", "  culvert events acme prod",
        "  culvert events --output json"})
public final class EventsCommand extends FollowCommand {
    private static final int MAX_TEXT = 300;
    private static final int WIDTH = 15;
    /** Shown in front, or not worth a place in a line. */
    private static final Set<String> OWN = Set.of("at", "account", "name", "tunnel", "generation", "cause");

    @Parameters(paramLabel = "[ACCOUNT [NAME]]", arity = "0..2", description = "Only events of this account's runtimes, or of this runtime.")
    private List<String> runtime = List.of();

    @Override
    String path() {
        return "/events";
    }

    @Override
    boolean shows(String kind, JsonNode data) {
        return (runtime.isEmpty() || runtime.get(0).equals(data.path("account").asText()))
                && (runtime.size() < 2 || runtime.get(1).equals(data.path("name").asText()));
    }

    @Override
    String line(String kind, JsonNode data) {
        String word = Printable.of(kind, MAX_TEXT);
        var line = new StringBuilder(EventTime.of(data.path("at").asText())).append("  ")
                .append(word)
                .repeat(' ', Math.max(0, WIDTH - word.length()))
                .append("  ");
        if (data.path("account").isTextual()) {
            line.append(
                    Printable.of(data.path("account").asText() + "/" + data.path("name").asText(), MAX_TEXT));
        } else {
            line.append('-');
        }
        data.properties().forEach(member -> {
            JsonNode value = member.getValue();
            if (value.isValueNode() && !value.isNull() && !value.asText().isEmpty()
                    && !OWN.contains(member.getKey())) {
                line.append("  ").append(Printable.of(member.getKey() + " " + value.asText(), MAX_TEXT));
            }
        });
        String cause = data.path("cause").asText("");
        return line.append(cause.isEmpty() ? "" : "  " + Printable.of(cause, MAX_TEXT)).toString();
    }

    @Override
    String json(String kind, String data) {
        boolean more = data.startsWith("{") && !data.startsWith("{}");
        return "{\"event\":\"" + Printable.of(kind, MAX_TEXT).replaceAll("[\"\\\\]", "?") + "\""
                + (more ? "," + data.substring(1) : "}");
    }
}
