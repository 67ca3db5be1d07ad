package dev.culvert.launcher.platform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.admin.AdminClient;
import dev.culvert.launcher.output.TextTable;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code culvert trigger …}: what starts pipelines. */
@Command(name = "trigger", subcommands = {TriggerCommand.ListAll.class, TriggerCommand.Create.class,
        TriggerCommand.Delete.class, TriggerCommand.Run.class, TriggerCommand.Explain.class,
        TriggerCommand.Runs.class, TriggerCommand.Refusals.class}, footer = {"", "Examples:",
                "  culvert trigger create shop/deploy --type registry --kind dockerhub --value namespace=acme --value name=web --filter tag=^v",
                "  culvert trigger list --pipeline shop/deploy",
                "  culvert trigger explain git:github:acme:web:d033e22ae348 --name push --file push.json"})
public final class TriggerCommand {
    private static final String ROOT = "/api/hermes";

    private static String link(String event, String pipeline) {
        return ROOT + "/triggers/" + PlatformClient.encoded(event) + "/" + PlatformClient.encoded(pipeline);
    }

    private static String page(int limit, @Nullable String next) {
        return "?limit=" + limit + (next == null ? "" : "&next=" + PlatformClient.encoded(next));
    }

    private static String rows(JsonNode answer, List<String> head, List<String> names) {
        var rows = new ArrayList<List<String>>();
        rows.add(head);
        for (JsonNode item : answer.path("items")) {
            rows.add(names.stream().map(name -> cell(item.path(name))).toList());
        }
        JsonNode more = answer.path("next");
        return TextTable.of(rows) + (more.isTextual() ? "\nmore: --next " + more.asText() : "");
    }

    private static String cell(JsonNode value) {
        if (value.isObject()) {
            List<String> parts = new ArrayList<>();
            value.properties().forEach(each -> parts.add(each.getKey() + "=" + each.getValue().asText()));
            return String.join(" ", parts);
        }
        if (value.isArray()) {
            List<String> parts = new ArrayList<>();
            value.forEach(each -> parts.add(each.asText()));
            return String.join("; ", parts);
        }
        return value.isIntegralNumber() ? Instant.ofEpochMilli(value.asLong()).toString() : value.asText("-");
    }

    private static String read(String option, Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, option + ": " + file + " can't be read as UTF-8");
        }
    }

    /** {@code list}. */
    @Command(name = "list", description = "Lists triggers: which event starts which pipeline.", footer = {"",
            "Example:", "  culvert trigger list --pipeline shop/deploy"})
    static final class ListAll extends PlatformCommand {
        @Option(names = "--pipeline", paramLabel = "PIPELINE", description = "Only those of this pipeline.")
        private @Nullable String pipeline;
        @Option(names = "--limit", paramLabel = "NUMBER", defaultValue = "100", description = "How many, up to 200 (default: ${DEFAULT-VALUE}).")
        private int limit;
        @Option(names = "--next", paramLabel = "NEXT", description = "Go on behind a list, with its last line's NEXT.")
        private @Nullable String next;

        @Override
        AdminClient.Answer ask(PlatformClient client) {
            String path = pipeline == null
                    ? ROOT + "/triggers"
                    : ROOT + "/triggers/pipeline/" + PlatformClient.encoded(pipeline);
            return client.call("GET", path + page(limit, next), null);
        }

        @Override
        String table(JsonNode answer) {
            return rows(answer, List.of("EVENT", "PIPELINE", "FILTERS"),
                    List.of("event", "pipeline", "filters"));
        }
    }

    /** {@code create PIPELINE}. */
    @Command(name = "create", description = "Links a pipeline to an event: to one that exists, or to a new one, whose secret is shown this once.", footer = {
            "", "Examples:",
            "  culvert trigger create shop/deploy --type git --kind github --value owner=acme --value repo=web --filter branch=^main$",
            "  culvert trigger create shop/nightly --type cron --kind codefresh --value 'expression=0 0 3 * * *' --value message=nightly",
            "  culvert trigger create shop/scan --event registry:quay:acme:web:push:d033e22ae348"})
    static final class Create extends PlatformCommand {
        @Parameters(paramLabel = "PIPELINE", description = "The pipeline, as shop/deploy.")
        private String pipeline = "";
        @Option(names = "--event", paramLabel = "URI", description = "An event that exists.")
        private @Nullable String event;
        @Option(names = "--type", paramLabel = "TYPE", description = "Of a new event: git, registry, helm or cron.")
        private @Nullable String type;
        @Option(names = "--kind", paramLabel = "KIND", description = "Of a new event: github, gitlab, bitbucket, gitea; dockerhub, quay, jfrog, azure, docker; codefresh.")
        private @Nullable String kind;
        @Option(names = "--value", paramLabel = "NAME=VALUE", description = "What names a new event, as owner=acme; several.")
        private Map<String, String> values = Map.of();
        @Option(names = "--secret-file", paramLabel = "FILE", description = "File of a new event's secret. Default: one is made.")
        private @Nullable Path secretFile;
        @Option(names = "--filter", paramLabel = "FIELD=PATTERN", description = "A pattern that a field must match, as tag=^v; SKIP: in front of it turns it around; several.")
        private Map<String, String> filters = Map.of();

        @Override
        AdminClient.Answer ask(PlatformClient client) {
            String uri = event;
            if (uri == null) {
                AdminClient.Answer made = client.call("POST", ROOT + "/events", wanted());
                if (!made.ok()) {
                    return made;
                }
                uri = made.json().path("uri").asText();
                AdminClient.Answer linked = client.call("POST", link(uri, pipeline),
                        Map.of("filters", filters));
                return linked.ok() ? made : linked;
            }
            return client.call("POST", link(uri, pipeline), Map.of("filters", filters));
        }

        private Map<String, Object> wanted() {
            if (type == null || kind == null) {
                throw new CommandException(ExitCode.USAGE,
                        "no event (expected: --event URI, or --type and --kind of a new one)");
            }
            Map<String, Object> body = new LinkedHashMap<>(
                    Map.of("type", type, "kind", kind, "values", values));
            if (secretFile != null) {
                body.put("secret", read("--secret-file", secretFile).strip());
            }
            return body;
        }

        @Override
        String table(JsonNode answer) {
            if (answer.has("pipeline")) {
                return "linked to " + answer.path("event").asText();
            }
            var lines = new ArrayList<>(List.of("created and linked: " + answer.path("uri").asText()));
            if (answer.path("secret").isTextual()) {
                lines.add("secret: " + answer.path("secret").asText());
            }
            if (!answer.path("help").asText().isEmpty()) {
                lines.add(answer.path("help").asText());
            }
            return String.join("\n", lines);
        }
    }

    /** {@code delete PIPELINE --event URI}. */
    @Command(name = "delete", description = "Ends the link of a pipeline to an event.", footer = {"",
            "Example:",
            "  culvert trigger delete shop/scan --event registry:quay:acme:web:push:d033e22ae348 --with-event"})
    static final class Delete extends PlatformCommand {
        @Parameters(paramLabel = "PIPELINE", description = "The pipeline.")
        private String pipeline = "";
        @Option(names = "--event", paramLabel = "URI", required = true, description = "The event.")
        private String event = "";
        @Option(names = "--with-event", description = "Deletes the event, too, if it starts nothing else.")
        private boolean withEvent;

        @Override
        AdminClient.Answer ask(PlatformClient client) {
            AdminClient.Answer ended = client.call("DELETE", link(event, pipeline), null);
            return ended.ok() && withEvent
                    ? client.call("DELETE", ROOT + "/events/" + PlatformClient.encoded(event), null)
                    : ended;
        }

        @Override
        String table(JsonNode answer) {
            return "deleted";
        }
    }

    /** {@code run EVENT}. */
    @Command(name = "run", description = "Says that an event happened, as whoever knows its secret.", footer = {
            "",
            "Example:",
            "  culvert trigger run registry:quay:acme:web:push:d033e22ae348 --secret-file quay.secret --variable tag=v1"})
    static final class Run extends PlatformCommand {
        @Parameters(paramLabel = "EVENT", description = "The event's URI.")
        private String event = "";
        @Option(names = "--secret-file", paramLabel = "FILE", required = true, description = "File of the event's secret.")
        private Path secretFile = Path.of("");
        @Option(names = "--variable", paramLabel = "NAME=VALUE", description = "A field for filters, and the variable EVENT_NAME; several.")
        private Map<String, String> variables = Map.of();
        @Option(names = "--delivery", paramLabel = "KEY", description = "Names what happened: the same one starts nothing twice.")
        private @Nullable String delivery;

        @Override
        AdminClient.Answer ask(PlatformClient client) {
            return client.call("POST", ROOT + "/run/" + PlatformClient.encoded(event),
                    Map.of("secret", read("--secret-file", secretFile).strip(), "variables", variables),
                    delivery == null ? Map.of() : Map.of("Idempotency-Key", delivery));
        }

        @Override
        boolean isForAnyone() {
            return true;
        }

        @Override
        String table(JsonNode answer) {
            List<String> lines = new ArrayList<>();
            answer.forEach(run -> lines
                    .add("run " + run.path("id").asText() + " of " + run.path("pipeline").asText()));
            return lines.isEmpty() ? "nothing started: culvert trigger refusals" : String.join("\n", lines);
        }
    }

    /** {@code explain EVENT}. */
    @Command(name = "explain", description = "Says which pipelines something would start, and which filter refuses. Starts nothing.", footer = {
            "", "Examples:",
            "  culvert trigger explain git:github:acme:web:d033e22ae348 --name push --file push.json",
            "  culvert trigger explain registry:quay:acme:web:push:d033e22ae348 --field tag=latest"})
    static final class Explain extends PlatformCommand {
        @Parameters(paramLabel = "EVENT", description = "The event's URI.")
        private String event = "";
        @Option(names = "--file", paramLabel = "FILE", description = "File of a body, as the provider sends it.")
        private @Nullable Path file;
        @Option(names = "--name", paramLabel = "NAME", description = "Of a body of Git: the event's name, as push or 'Push Hook'.")
        private @Nullable String name;
        @Option(names = "--field", paramLabel = "NAME=VALUE", description = "A field in place of a body; several.")
        private Map<String, String> fields = Map.of();

        @Override
        AdminClient.Answer ask(PlatformClient client) {
            Map<String, Object> body = new LinkedHashMap<>(Map.of("event", event, "fields", fields));
            if (file != null) {
                body.put("original", read("--file", file));
            }
            if (name != null) {
                body.put("name", name);
            }
            return client.call("POST", ROOT + "/explain", body);
        }

        @Override
        String table(JsonNode answer) {
            return rows(answer, List.of("PIPELINE", "STARTS", "WHY NOT"),
                    List.of("pipeline", "starts", "why"));
        }
    }

    /** {@code runs}. */
    @Command(name = "runs", description = "Lists what events have started, newest first.", footer = {"",
            "Example:", "  culvert trigger runs --pipeline shop/deploy --limit 20"})
    static final class Runs extends PlatformCommand {
        @Option(names = "--pipeline", paramLabel = "PIPELINE", description = "Only those of this pipeline.")
        private @Nullable String pipeline;
        @Option(names = "--event", paramLabel = "URI", description = "Only those of this event.")
        private @Nullable String event;
        @Option(names = "--limit", paramLabel = "NUMBER", defaultValue = "100", description = "How many, up to 200 (default: ${DEFAULT-VALUE}).")
        private int limit;
        @Option(names = "--next", paramLabel = "NEXT", description = "Go on behind a list, with its last line's NEXT.")
        private @Nullable String next;

        @Override
        AdminClient.Answer ask(PlatformClient client) {
            return client.call("GET", ROOT + "/runs" + page(limit, next)
                    + (pipeline == null ? "" : "&pipeline=" + PlatformClient.encoded(pipeline))
                    + (event == null ? "" : "&event=" + PlatformClient.encoded(event)), null);
        }

        @Override
        String table(JsonNode answer) {
            return rows(answer, List.of("ID", "PIPELINE", "EVENT", "STATE", "BUILD", "WHY NOT", "CREATED"),
                    List.of("id", "pipeline", "event", "state", "build", "why", "created"));
        }
    }

    /** {@code refusals}. */
    @Command(name = "refusals", description = "Lists what happened and started nothing, newest first, with the reasons.", footer = {
            "", "Example:", "  culvert trigger refusals --limit 20"})
    static final class Refusals extends PlatformCommand {
        @Option(names = "--limit", paramLabel = "NUMBER", defaultValue = "100", description = "How many, up to 200 (default: ${DEFAULT-VALUE}).")
        private int limit;
        @Option(names = "--next", paramLabel = "NEXT", description = "Go on behind a list, with its last line's NEXT.")
        private @Nullable String next;

        @Override
        AdminClient.Answer ask(PlatformClient client) {
            return client.call("GET", ROOT + "/refusals" + page(limit, next), null);
        }

        @Override
        String table(JsonNode answer) {
            return rows(answer, List.of("CREATED", "EVENT", "WHY NOT"), List.of("created", "event", "why"));
        }
    }
}
