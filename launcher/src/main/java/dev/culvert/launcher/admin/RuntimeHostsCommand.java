package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code culvert runtime hosts ACCOUNT NAME}: changes the custom hosts of a runtime and shows the new ones.
 */
@Command(name = "hosts", description = "Adds custom host names to a runtime, or removes them; without options it tells those it has.", footer = {
        "", "Example:", "  culvert runtime hosts acme prod --add git.acme.example --remove old.acme.example"})
final class RuntimeHostsCommand extends AdminCommand {
    @Mixin
    private RuntimeArguments runtime = new RuntimeArguments();
    @Option(names = "--add", paramLabel = "HOST", split = ",", description = "A host name to add; may be repeated.")
    private List<String> added = new ArrayList<>();
    @Option(names = "--remove", paramLabel = "HOST", split = ",", description = "A host name to remove; may be repeated.")
    private List<String> removed = new ArrayList<>();

    @Override
    AdminClient.Answer ask(AdminClient api) {
        String path = runtime.path();
        AdminClient.Answer shown = api.call("GET", path, null);
        return (added.isEmpty() && removed.isEmpty()) || !shown.ok()
                ? shown
                : api.call("PATCH", path, Map.of("hosts", wanted(shown.json())));
    }

    @Override
    String table(JsonNode shown) {
        return RuntimeCommand.facts(shown, "account", "name", "host", "hosts");
    }

    private List<String> wanted(JsonNode shown) {
        var hosts = new LinkedHashSet<String>();
        shown.path("hosts").forEach(host -> hosts.add(host.asText()));
        for (String host : removed) {
            if (!hosts.remove(host.toLowerCase(Locale.ROOT))) {
                throw new CommandException(ExitCode.FAILED,
                        "--remove: " + host + " is no custom host of " + runtime);
            }
        }
        hosts.addAll(added);
        return List.copyOf(hosts);
    }
}
