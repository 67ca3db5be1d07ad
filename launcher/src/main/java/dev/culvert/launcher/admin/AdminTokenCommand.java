package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.output.TextTable;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code culvert admin-token …}: manages the tokens of the admin API. */
@Command(name = "admin-token", subcommands = {
        AdminTokenCommand.Create.class, AdminTokenCommand.ListAll.class, AdminTokenCommand.Rotate.class,
        AdminTokenCommand.Delete.class}, footer = {"", "Example:",
                "  culvert admin-token create dashboard --role read --token-file dashboard.token"})
public final class AdminTokenCommand {
    private static final String PATH = "/admin-tokens";

    private static String path(String name) {
        return PATH + "/" + URLEncoder.encode(name, StandardCharsets.UTF_8);
    }

    /** A command whose response contains an admin token. */
    abstract static class Issuing extends TokenCommand {
        @Override
        final String secret() {
            return "token";
        }

        @Override
        final String again() {
            return "culvert admin-token rotate makes another token";
        }

        @Override
        final String table(JsonNode answer) {
            return RuntimeCommand.facts(answer, "name", "role", "token", "tokenFile");
        }
    }

    /** {@code create NAME}. */
    @Command(name = "create", description = "Creates a token, and prints it once or writes it to a file.", footer = {
            "", "Example:",
            "  culvert admin-token create dashboard --role read --token-file dashboard.token"})
    static final class Create extends Issuing {
        @Parameters(paramLabel = "NAME", index = "0", description = "Its name, which the audit log tells.")
        private String name = "";
        @Option(names = "--role", required = true, paramLabel = "read|operate|admin|registrar", description = "What it may do: look; also drain, disconnect, and change limits of runtimes; everything; create, list and delete runtimes of its own alone, as a control plane does.")
        private String role = "";

        @Override
        AdminClient.Answer issue(AdminClient api) {
            return api.call("POST", PATH, Map.of("name", name, "role", role));
        }
    }

    /** {@code rotate NAME}. */
    @Command(name = "rotate", description = "Gives a token another secret, and prints it once or writes it to a file.", footer = {
            "", "Example:", "  culvert admin-token rotate dashboard --keep 1h --token-file dashboard.token"})
    static final class Rotate extends Issuing {
        @Parameters(paramLabel = "NAME", index = "0", description = "The token's name.")
        private String name = "";
        @Option(names = "--keep", paramLabel = "DURATION", description = "How long the secret before stays good, up to 7d. Default: not at all.")
        private @Nullable String keep;

        @Override
        AdminClient.Answer issue(AdminClient api) {
            return api.call("POST", path(name) + "/rotate", keep == null ? Map.of() : Map.of("keep", keep));
        }
    }

    /** {@code list}. */
    @Command(name = "list", description = "Lists the named tokens, without their secrets.", footer = {"",
            "Example:",
            "  culvert admin-token list"})
    static final class ListAll extends AdminCommand {
        @Override
        AdminClient.Answer ask(AdminClient api) {
            return api.call("GET", PATH, null);
        }

        @Override
        String table(JsonNode answer) {
            var rows = new ArrayList<List<String>>();
            rows.add(List.of("NAME", "ROLE", "CREATED"));
            for (JsonNode item : answer.path("items")) {
                rows.add(List.of(item.path("name").asText(), item.path("role").asText(),
                        item.path("created").asText()));
            }
            return TextTable.of(rows);
        }
    }

    /** {@code delete NAME}. */
    @Command(name = "delete", description = "Makes a token worthless at once.", footer = {"", "Example:",
            "  culvert admin-token delete dashboard"})
    static final class Delete extends AdminCommand {
        @Parameters(paramLabel = "NAME", index = "0", description = "The token's name.")
        private String name = "";

        @Override
        AdminClient.Answer ask(AdminClient api) {
            return api.call("DELETE", path(name), null);
        }

        @Override
        String table(JsonNode answer) {
            return "deleted " + name;
        }
    }
}
