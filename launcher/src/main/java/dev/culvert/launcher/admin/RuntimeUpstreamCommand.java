package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code culvert runtime upstream ACCOUNT NAME}: changes and shows the upstream of a hosted runtime. */
@Command(name = "upstream", description = "Gives a hosted runtime another upstream; without options it tells the one it has. Requests that run have a minute to end.", footer = {
        "", "Example:", "  culvert runtime upstream acme hosted --upstream http://127.0.0.1:3001"})
final class RuntimeUpstreamCommand extends AdminCommand {
    @Mixin
    private RuntimeArguments runtime = new RuntimeArguments();
    @Mixin
    private UpstreamOptions upstream = new UpstreamOptions();

    @Override
    AdminClient.Answer ask(AdminClient api) {
        var wanted = upstream.fields();
        return wanted.isEmpty()
                ? api.call("GET", runtime.path(), null)
                : api.call("PATCH", runtime.path(), wanted);
    }

    @Override
    String table(JsonNode shown) {
        return RuntimeCommand.facts(shown, "account", "name", "host", "upstream", "state");
    }
}
