package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code culvert webhook …}: manages the inbox of a server. */
@Command(name = "webhook", subcommands = {
        WebhookCommand.ListAll.class, WebhookCommand.Show.class, WebhookCommand.Replay.class,
        WebhookCommand.Purge.class, WebhookCommand.Pause.class, WebhookCommand.Resume.class}, footer = {"",
                "Examples:", "  culvert webhook list --state dead", "  culvert webhook replay ID"})
public final class WebhookCommand {
    private static final String PATH = "/webhooks";

    private static String path(String id) {
        return PATH + "/" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    }

    private static String facts(JsonNode answer) {
        return RuntimeCommand.facts(answer, "id", "account", "name", "source", "state", "attempts", "outcome",
                "outOfOrder", "nextAttemptAt", "storedAt", "endedAt", "method", "host", "path", "bytes",
                "providerId", "replayable");
    }

    /** {@code list}. */
    @Command(name = "list", description = "Lists webhooks, newest first.", footer = {"", "Example:",
            "  culvert webhook list --state dead --runtime acme prod"})
    static final class ListAll extends AdminCommand {
        @Option(names = "--state", paramLabel = "pending|delivered|dead", description = "Only those in this state.")
        private @Nullable String state;
        @Option(names = "--runtime", arity = "2", paramLabel = "ACCOUNT NAME", description = "Only those of this runtime.")
        private List<String> runtime = List.of();
        @Option(names = "--source", paramLabel = "SOURCE", description = "Only those of this event source of the runtime, as argo/push.")
        private @Nullable String source;
        @Option(names = "--limit", paramLabel = "NUMBER", defaultValue = "100", description = "How many, up to 200 (default: ${DEFAULT-VALUE}).")
        private int limit;
        @Option(names = "--next", paramLabel = "NEXT", description = "Go on behind a list, with its last line's NEXT.")
        private @Nullable String next;

        @Override
        AdminClient.Answer ask(AdminClient api) {
            var query = new StringBuilder("?limit=").append(limit);
            add(query, "state", state);
            if (runtime.size() == 2) {
                add(query, "account", runtime.getFirst());
                add(query, "name", runtime.getLast());
            }
            add(query, "source", source);
            add(query, "next", next);
            return api.call("GET", PATH + query, null);
        }

        private static void add(StringBuilder query, String key, @Nullable String value) {
            if (value != null) {
                query.append('&')
                        .append(key)
                        .append('=')
                        .append(
                                URLEncoder.encode(value, StandardCharsets.UTF_8));
            }
        }

        @Override
        String table(JsonNode answer) {
            var rows = new ArrayList<List<String>>();
            rows.add(List.of("ID", "RUNTIME", "SOURCE", "STATE", "ATTEMPTS", "OUTCOME", "STORED"));
            for (JsonNode item : answer.path("items")) {
                rows.add(List.of(item.path("id").asText(),
                        item.path("account").asText() + "/" + item.path("name").asText(),
                        item.path("source").asText(), item.path("state").asText(),
                        item.path("attempts").asText(), item.path("outcome").asText(),
                        item.path("storedAt").asText()));
            }
            JsonNode more = answer.path("next");
            return TextTable.of(rows) + (more.isTextual() ? "\nmore: --next " + more.asText() : "");
        }
    }

    /** {@code show ID}. */
    @Command(name = "show", description = "Tells what became of a webhook; its fields and body, which may hold secrets, are not shown.", footer = {
            "", "Example:", "  culvert webhook show ID"})
    static final class Show extends AdminCommand {
        @Parameters(paramLabel = "ID", description = "Its Culvert-Webhook-Id.")
        private String id = "";

        @Override
        AdminClient.Answer ask(AdminClient api) {
            return api.call("GET", path(id), null);
        }

        @Override
        String table(JsonNode answer) {
            return facts(answer);
        }
    }

    /** {@code replay ID}. */
    @Command(name = "replay", description = "Delivers a webhook again that is delivered or dead.", footer = {
            "", "Example:", "  culvert webhook replay ID"})
    static final class Replay extends AdminCommand {
        @Parameters(paramLabel = "ID", description = "Its Culvert-Webhook-Id.")
        private String id = "";

        @Override
        AdminClient.Answer ask(AdminClient api) {
            return api.call("POST", path(id) + "/replay", null);
        }

        @Override
        String table(JsonNode answer) {
            return facts(answer);
        }
    }

    /** {@code purge ID}, {@code purge --runtime ACCOUNT NAME --source SOURCE}. */
    @Command(name = "purge", description = "Forgets a webhook, or all of an event source, delivered or not.", footer = {
            "", "Examples:", "  culvert webhook purge ID",
            "  culvert webhook purge --runtime acme prod --source argo/push --state pending"})
    static final class Purge extends AdminCommand {
        @Parameters(paramLabel = "ID", arity = "0..1", description = "Its Culvert-Webhook-Id.")
        private @Nullable String id;
        @Option(names = "--runtime", arity = "2", paramLabel = "ACCOUNT NAME", description = "The runtime of the event source.")
        private List<String> runtime = List.of();
        @Option(names = "--source", paramLabel = "SOURCE", description = "All webhooks of this event source, as argo/push.")
        private @Nullable String source;
        @Option(names = "--state", paramLabel = "pending|delivered|dead", description = "Only those of the event source in this state.")
        private @Nullable String state;
        @Spec
        private @Nullable CommandSpec spec;

        @Override
        AdminClient.Answer ask(AdminClient api) {
            String one = id;
            if (one != null && source == null && runtime.isEmpty() && state == null) {
                return api.call("DELETE", path(one), null);
            }
            if (one != null || source == null || runtime.size() != 2) {
                throw new ParameterException(Objects.requireNonNull(spec).commandLine(),
                        "purge: what (expected: an ID, or --runtime ACCOUNT NAME and --source SOURCE)");
            }
            var query = new StringBuilder("?");
            ListAll.add(query, "account", runtime.getFirst());
            ListAll.add(query, "name", runtime.getLast());
            ListAll.add(query, "source", source);
            ListAll.add(query, "state", state);
            return api.call("DELETE", PATH + query, null);
        }

        @Override
        String table(JsonNode answer) {
            return id == null ? "purged " + answer.path("purged").asText() : "purged " + id;
        }
    }

    /** A change of one event source. */
    abstract static class OfSource extends AdminCommand {
        @Mixin
        private RuntimeArguments runtime = new RuntimeArguments();
        @Parameters(paramLabel = "SOURCE", index = "2", description = "The event source, as argo/push.")
        String source = "";

        /** The last segment of the call's path. */
        abstract String change();

        @Override
        final AdminClient.Answer ask(AdminClient api) {
            return api.call("POST", runtime.path() + "/webhooks/" + change(), Map.of("source", source));
        }

        @Override
        final String table(JsonNode answer) {
            return change() + "d " + source;
        }
    }

    /** {@code pause ACCOUNT NAME SOURCE}. */
    @Command(name = "pause", description = "Delivers nothing to an event source until it is resumed; webhooks are still stored.", footer = {
            "", "Example:", "  culvert webhook pause acme prod argo/push"})
    static final class Pause extends OfSource {
        @Override
        String change() {
            return "pause";
        }
    }

    /** {@code resume ACCOUNT NAME SOURCE}. */
    @Command(name = "resume", description = "Delivers to a paused event source again.", footer = {"",
            "Example:",
            "  culvert webhook resume acme prod argo/push"})
    static final class Resume extends OfSource {
        @Override
        String change() {
            return "resume";
        }
    }
}
