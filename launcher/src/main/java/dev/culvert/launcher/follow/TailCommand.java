package dev.culvert.launcher.follow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.output.Printable;
import dev.culvert.launcher.output.RequestText;
import dev.culvert.launcher.output.Terminal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code culvert tail}: shows requests as they end. */
@Command(name = "tail", footer = {"", "Examples:", "  culvert tail",
        "  culvert tail acme prod --status 5xx", "  culvert tail --problems --output json"})
public final class TailCommand extends FollowCommand {
    private static final int MAX_TEXT = 300;

    @Parameters(paramLabel = "[ACCOUNT [NAME]]", arity = "0..2", description = "Only requests to this account's runtimes, or to this runtime.")
    private List<String> runtime = List.of();
    @Option(names = "--status", paramLabel = "STATUS", description = "Only those with this status, as 502, 5xx, or 0: the caller left first.")
    private @Nullable String status;
    @Option(names = "--path", paramLabel = "PATH", description = "Only those whose path begins with PATH, or contains it if it has no slash in front.")
    private @Nullable String path;
    @Option(names = "--problems", description = "Only those that the gateway answered, or cut off.")
    private boolean problems;

    private final boolean coloured = Terminal.ofOutput().isColoured();

    @Override
    String path() {
        var query = new StringBuilder("/events?requests=only");
        add(query, "runtime", runtime.isEmpty() ? null : String.join("/", runtime));
        add(query, "status", status);
        add(query, "path", path);
        add(query, "problems", problems ? "true" : null);
        return query.toString();
    }

    private static void add(StringBuilder query, String key, @Nullable String value) {
        if (value != null) {
            query.append('&')
                    .append(key)
                    .append('=')
                    .append(URLEncoder.encode(value, StandardCharsets.UTF_8));
        }
    }

    @Override
    boolean shows(String kind, JsonNode data) {
        return kind.equals("request");
    }

    @Override
    String line(String kind, JsonNode request) {
        long micros = request.path("totalMicros").asLong();
        String runtimeName = request.path("runtime").asText();
        return EventTime.ofEnd(request.path("began").asText(), micros) + "  "
                + (runtimeName.isEmpty() ? "-" : printable(runtimeName)) + "  "
                + printable(request.path("method").asText()) + " " + printable(request.path("path").asText())
                + "  " + RequestText.status(request.path("status").asInt(), coloured) + "  "
                + RequestText.duration(TimeUnit.MICROSECONDS.toNanos(micros)) + cause(request);
    }

    private static String cause(JsonNode request) {
        if (!request.path("cause").isTextual()) {
            String end = request.path("end").asText("complete");
            return end.equals("complete") ? "" : "  " + printable(end);
        }
        String detail = request.path("detail").asText("");
        return "  " + printable(request.path("cause").asText()) + " ("
                + printable(request.path("hop").asText())
                + ")" + (detail.isEmpty() ? "" : ": " + printable(detail));
    }

    private static String printable(String text) {
        return Printable.of(text, MAX_TEXT);
    }

    @Override
    String json(String kind, String data) {
        return data;
    }
}
