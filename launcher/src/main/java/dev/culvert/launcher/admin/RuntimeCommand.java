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

/** {@code culvert runtime …}: manages the runtimes of a server through its admin API. */
@Command(name = "runtime", subcommands = {
        RuntimeCommand.Create.class, RuntimeCommand.ListAll.class, RuntimeCommand.Show.class,
        RuntimeCommand.EnrolToken.class, RuntimeCommand.Drain.class, RuntimeCommand.Disconnect.class,
        RuntimeHostsCommand.class, RuntimeUpstreamCommand.class, RuntimeLimitsCommand.class,
        RuntimeAccessCommand.class,
        RuntimeCommand.Revoke.class,
        RuntimeCommand.Delete.class}, footer = {"",
                "Example:",
                "  culvert runtime create acme prod --token-file token \\",
                "    --admin http://127.0.0.1:9090 --admin-token-file admin.token"})
public final class RuntimeCommand {

    /** The values of these keys in the response, one on each line. Absent keys are omitted. */
    static String facts(JsonNode runtime, String... keys) {
        var rows = new ArrayList<List<String>>();
        for (String key : keys) {
            JsonNode value = runtime.path(key);
            if (value.isMissingNode() || value.isNull()) {
                continue;
            }
            rows.add(List.of(key, value.isArray() ? joined(value) : value.asText("")));
        }
        return rows.isEmpty() ? "" : TextTable.facts(rows);
    }

    private static String joined(JsonNode values) {
        return String.join(", ", values.valueStream().map(JsonNode::asText).toList());
    }

    /** {@code create ACCOUNT NAME}. */
    @Command(name = "create", description = "Creates a runtime, and prints its one-time enrolment token or writes it to a file; with --upstream a hosted one, which has no tunnel and no token.", footer = {
            "",
            "Examples:", "  culvert runtime create acme prod --token-file token --host gitops.acme.example",
            "  culvert runtime create acme hosted --upstream http://127.0.0.1:3000"})
    static final class Create extends TokenCommand {
        @Mixin
        private RuntimeArguments runtime = new RuntimeArguments();
        @Option(names = "--host", paramLabel = "HOST", split = ",", description = "A custom host name; may be repeated.")
        private List<String> hosts = new ArrayList<>();
        @Mixin
        private UpstreamOptions upstream = new UpstreamOptions();

        @Override
        AdminClient.Answer issue(AdminClient api) {
            Map<String, Object> wanted = new LinkedHashMap<>(upstream.fields());
            wanted.put("account", runtime.account());
            wanted.put("name", runtime.name());
            wanted.put("hosts", hosts);
            return api.call("POST", "/runtimes", wanted);
        }

        @Override
        @Nullable
        String whyNoToken() {
            return upstream.isGiven() ? "a runtime with --upstream has no token" : null;
        }

        @Override
        String table(JsonNode answer) {
            return facts(answer, "account", "name", "host", "hosts", "upstream", "enrolmentToken",
                    "enrolmentTokenFile",
                    "enrolmentExpiresAt");
        }
    }

    /** {@code list}. */
    @Command(name = "list", description = "Lists all runtimes with the state of their tunnels.", footer = {"",
            "Example:", "  culvert runtime list --output json"})
    static final class ListAll extends AdminCommand {
        @Override
        AdminClient.Answer ask(AdminClient api) {
            return api.call("GET", "/runtimes", null);
        }

        @Override
        String table(JsonNode answer) {
            var rows = new ArrayList<List<String>>();
            rows.add(List.of("ACCOUNT", "NAME", "STATE", "TUNNELS", "HOST", "UPSTREAM"));
            for (JsonNode item : answer.path("items")) {
                rows.add(List.of(item.path("account").asText(), item.path("name").asText(),
                        item.path("state").asText(), Integer.toString(item.path("tunnels").size()),
                        item.path("host").asText(), item.path("upstream").asText("-")));
            }
            return TextTable.of(rows);
        }
    }

    /** {@code show ACCOUNT NAME}. */
    @Command(name = "show", description = "Shows one runtime, its sessions and the clients that wait while another one serves.", footer = {
            "", "Example:",
            "  culvert runtime show acme prod"})
    static final class Show extends AdminCommand {
        @Mixin
        private RuntimeArguments runtime = new RuntimeArguments();

        @Override
        AdminClient.Answer ask(AdminClient api) {
            return api.call("GET", runtime.path(), null);
        }

        @Override
        String table(JsonNode answer) {
            var rows = new ArrayList<List<String>>();
            rows.add(List.of("TUNNEL", "GENERATION", "STATE", "SINCE", "STREAMS", "REMOTE", "VERSION"));
            for (JsonNode tunnel : answer.path("tunnels")) {
                rows.add(List.of(tunnel.path("id").asText(), tunnel.path("generation").asText(),
                        tunnel.path("state").asText(), tunnel.path("since").asText(),
                        tunnel.path("streams").asText(), tunnel.path("remote").asText(),
                        tunnel.path("version").asText()));
            }
            String sessions = rows.size() == 1 ? "" : "\n\n" + TextTable.of(rows);
            return facts(answer, "account", "name", "host", "hosts", "upstream", "state") + sessions
                    + waiting(answer);
        }

        private static String waiting(JsonNode answer) {
            var rows = new ArrayList<List<String>>();
            rows.add(List.of("WAITING", "SINCE", "PRIORITY", "REMOTE", "VERSION"));
            for (JsonNode client : answer.path("waiting")) {
                rows.add(List.of(client.path("state").asText(), client.path("since").asText(),
                        client.path("priority").asText(), client.path("remote").asText(),
                        client.path("version").asText()));
            }
            return rows.size() == 1 ? "" : "\n\n" + TextTable.of(rows);
        }
    }

    /** {@code enrol-token ACCOUNT NAME}. */
    @Command(name = "enrol-token", description = "Makes another one-time enrolment token, for a client that lost its identity.", footer = {
            "", "Example:", "  culvert runtime enrol-token acme prod --token-file token --ttl 15m"})
    static final class EnrolToken extends TokenCommand {
        @Mixin
        private RuntimeArguments runtime = new RuntimeArguments();
        @Option(names = "--ttl", paramLabel = "DURATION", defaultValue = "1h", description = "How long it can be used, as 15m (default: ${DEFAULT-VALUE}).")
        private String ttl = "";

        @Override
        AdminClient.Answer issue(AdminClient api) {
            return api.call("POST", runtime.path() + "/enrolment-tokens", Map.of("ttl", ttl));
        }

        @Override
        String table(JsonNode answer) {
            return facts(answer, "enrolmentToken", "enrolmentTokenFile", "enrolmentExpiresAt");
        }
    }

    /** {@code drain ACCOUNT NAME}. */
    @Command(name = "drain", description = "Drains a runtime's sessions: requests in flight have 30 s to end, its client connects anew meanwhile. If another client waits, it serves from then on.", footer = {
            "", "Example:", "  culvert runtime drain acme prod"})
    static final class Drain extends SessionsCommand {
        @Override
        AdminClient.Answer change(AdminClient api, String tunnel) {
            return api.call("POST", tunnel + "/drain", null);
        }

        @Override
        String done() {
            return "drained";
        }
    }

    /** {@code disconnect ACCOUNT NAME}. */
    @Command(name = "disconnect", description = "Closes a runtime's sessions at once; its client connects anew.", footer = {
            "", "Example:", "  culvert runtime disconnect acme prod"})
    static final class Disconnect extends SessionsCommand {
        @Override
        AdminClient.Answer change(AdminClient api, String tunnel) {
            return api.call("DELETE", tunnel, null);
        }

        @Override
        String done() {
            return "closed";
        }
    }

    /** Changes every session of a runtime. Its answer is the runtime as it was before. */
    abstract static class SessionsCommand extends AdminCommand {
        private static final int NOT_FOUND = 404;

        @Mixin
        private RuntimeArguments runtime = new RuntimeArguments();

        /** @param tunnel the session's resource */
        abstract AdminClient.Answer change(AdminClient api, String tunnel);

        /** The verb for the change, in the past tense. */
        abstract String done();

        @Override
        final AdminClient.Answer ask(AdminClient api) {
            AdminClient.Answer shown = api.call("GET", runtime.path(), null);
            if (!shown.ok()) {
                return shown;
            }
            for (JsonNode tunnel : shown.json().path("tunnels")) {
                AdminClient.Answer answer = change(api, "/tunnels/" + tunnel.path("id").asText());
                if (!answer.ok() && answer.status() != NOT_FOUND) { // a session that has ended needs no change
                    return answer;
                }
            }
            return shown;
        }

        @Override
        final String table(JsonNode shown) {
            return done() + " " + shown.path("tunnels").size() + " sessions of " + runtime;
        }
    }

    /** {@code revoke ACCOUNT NAME}. */
    @Command(name = "revoke", description = "Makes a runtime's certificates and tokens worthless, and closes its tunnel: its client needs a new token.", footer = {
            "", "Example:", "  culvert runtime revoke acme prod"})
    static final class Revoke extends AdminCommand {
        @Mixin
        private RuntimeArguments runtime = new RuntimeArguments();

        @Override
        AdminClient.Answer ask(AdminClient api) {
            return api.call("POST", runtime.path() + "/revoke", null);
        }

        @Override
        String table(JsonNode answer) {
            return "revoked " + runtime;
        }
    }

    /** {@code delete ACCOUNT NAME}. */
    @Command(name = "delete", description = "Deletes a runtime: its certificates end, its tunnel is closed.", footer = {
            "", "Example:", "  culvert runtime delete acme prod"})
    static final class Delete extends AdminCommand {
        @Mixin
        private RuntimeArguments runtime = new RuntimeArguments();

        @Override
        AdminClient.Answer ask(AdminClient api) {
            return api.call("DELETE", runtime.path(), null);
        }

        @Override
        String table(JsonNode answer) {
            return "deleted " + runtime;
        }
    }
}
