package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.output.TextTable;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
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

/** {@code culvert webhook …}: manages the inbox of a server or a router. */
@Command(name = "webhook", subcommands = {
        WebhookCommand.ListAll.class, WebhookCommand.Show.class, WebhookCommand.Replay.class,
        WebhookCommand.Purge.class, WebhookCommand.Pause.class, WebhookCommand.Resume.class}, footer = {"",
                "Examples:", "  culvert webhook list --state dead", "  culvert webhook replay ID",
                "  culvert webhook list --admin http://127.0.0.1:9092 --admin-token-file /var/lib/culvert-router/admin.token"})
public final class WebhookCommand {
    private static final String PATH = "/webhooks";

    private static String path(String id) {
        return PATH + "/" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    }

    /** The runtime of a webhook; a router's has no name. */
    private static String runtime(JsonNode item) {
        return item.path("account").isTextual()
                ? item.path("account").asText() + "/" + item.path("name").asText()
                : "-";
    }

    /** The last result, with the attempts that were refused before anything was sent. */
    private static String outcome(JsonNode item) {
        int refused = item.path("refused").asInt();
        String last = item.path("outcome").asText();
        return refused == 0
                ? last
                : last + (last.isEmpty() ? "" : ", ") + "refused " + refused
                        + (refused == 1 ? " time" : " times")
                        + " (not counted)";
    }

    private static String facts(JsonNode answer) {
        return RuntimeCommand.facts(answer, "id", "account", "name", "source", "state", "attempts", "refused",
                "outcome",
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
        @Option(names = "--source", paramLabel = "SOURCE", description = "Only those of this event source, as argo/push; needs --runtime but at a router.")
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
                        runtime(item),
                        item.path("source").asText(), item.path("state").asText(),
                        item.path("attempts").asText(), outcome(item),
                        item.path("storedAt").asText()));
            }
            JsonNode more = answer.path("next");
            return TextTable.of(rows) + (more.isTextual() ? "\nmore: --next " + more.asText() : "");
        }
    }

    /** {@code show ID}. */
    @Command(name = "show", description = "Shows the state of a webhook; its fields and body, which may hold secrets, are not shown.", footer = {
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

    private static String shown(JsonNode answer, String counted) {
        if (answer.has("matched")) {
            return answer.path("matched").asText() + " webhooks match";
        }
        long skipped = answer.path("skipped").asLong();
        return counted + " " + answer.path(counted).asText() + (skipped == 0 ? "" : ", skipped " + skipped);
    }

    /** {@code replay ID…}, {@code replay --state dead --since TIME}. */
    @Command(name = "replay", description = "Delivers webhooks again that are delivered or dead: by id, or all that fit the options, oldest first. Without --state the dead ones.", footer = {
            "", "Examples:", "  culvert webhook replay ID",
            "  culvert webhook replay --state dead --since 2026-11-25T12:00:00Z --runtime acme prod --source argo/push"})
    static final class Replay extends AdminCommand {
        @Mixin
        private WebhookSelection selection = new WebhookSelection();
        @Spec
        private @Nullable CommandSpec spec;

        @Override
        AdminClient.Answer ask(AdminClient api) {
            String one = selection.one();
            if (one != null) {
                return api.call("POST", path(one) + "/replay", null);
            }
            if (!selection.hasIds() && !selection.hasFilter()) {
                throw new ParameterException(Objects.requireNonNull(spec).commandLine(),
                        "replay: what (expected: an ID, --source, --state, --since or --until)");
            }
            return selection.change(api, PATH + "/replay", "replayed");
        }

        @Override
        String table(JsonNode answer) {
            return selection.one() != null ? facts(answer) : shown(answer, "replayed");
        }
    }

    /** {@code purge ID…}, {@code purge --source SOURCE}. */
    @Command(name = "purge", description = "Forgets webhooks, delivered or not: by id, or all that fit the options. Asks first at a terminal.", footer = {
            "", "Examples:", "  culvert webhook purge ID",
            "  culvert webhook purge --runtime acme prod --source argo/push --state pending --dry-run"})
    static final class Purge extends AdminCommand {
        @Mixin
        private WebhookSelection selection = new WebhookSelection();
        @Option(names = "--yes", description = "Do not ask.")
        private boolean yes;
        @Spec
        private @Nullable CommandSpec spec;

        @Override
        AdminClient.Answer ask(AdminClient api) {
            String one = selection.one();
            if (one != null) {
                return api.call("DELETE", path(one), null);
            }
            if (!selection.isSpecific()) {
                throw new ParameterException(Objects.requireNonNull(spec).commandLine(),
                        "purge: what (expected: an ID, --source or --state)");
            }
            if (!yes && !selection.isConfirmed(api, PATH + "/purge", "Forget")) {
                throw new CommandException(ExitCode.FAILED, "nothing was purged");
            }
            return selection.change(api, PATH + "/purge", "purged");
        }

        @Override
        String table(JsonNode answer) {
            String one = selection.one();
            return one == null ? shown(answer, "purged") : "purged " + one;
        }
    }

    /** A change of one event source. */
    abstract static class OfSource extends AdminCommand {
        @Parameters(paramLabel = "[ACCOUNT NAME] SOURCE", arity = "1..3", description = "The event source, as argo/push, behind its runtime. A router has only one runtime, which is not named.")
        private List<String> names = List.of();
        @Spec
        private @Nullable CommandSpec spec;

        /** The last segment of the call's path. */
        abstract String change();

        @Override
        final AdminClient.Answer ask(AdminClient api) {
            if (names.size() == 2) {
                throw new ParameterException(Objects.requireNonNull(spec).commandLine(),
                        change() + ": two names (expected: ACCOUNT NAME SOURCE, or at a router SOURCE)");
            }
            String of = names.size() == 1 ? "" : RuntimeArguments.path(names.get(0), names.get(1));
            return api.call("POST", of + PATH + "/" + change(), Map.of("source", names.getLast()));
        }

        @Override
        final String table(JsonNode answer) {
            return change() + "d " + names.getLast();
        }
    }

    /** {@code pause ACCOUNT NAME SOURCE}, {@code pause SOURCE}. */
    @Command(name = "pause", description = "Delivers nothing to an event source until it is resumed; webhooks are still stored.", footer = {
            "", "Example:", "  culvert webhook pause acme prod argo/push"})
    static final class Pause extends OfSource {
        @Override
        String change() {
            return "pause";
        }
    }

    /** {@code resume ACCOUNT NAME SOURCE}, {@code resume SOURCE}. */
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
