package dev.culvert.launcher.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.admin.SocketHttp;
import dev.culvert.launcher.output.JsonTree;
import dev.culvert.launcher.output.Output;
import dev.culvert.launcher.output.OutputOption;
import dev.culvert.launcher.output.TextTable;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code culvert client status}: queries a running client through its health listener. */
@Command(name = "status", description = {
        "Asks a running client how it does: its state, sessions, certificate, proxy and last failure.",
        "Exits with 0 when it is connected, 1 when it is not, 69 when nobody answers."}, footer = {"",
                "Example:",
                "  culvert client status --health http://127.0.0.1:8081"})
final class ClientStatusCommand implements Task.Brief {
    @Option(names = "--health", paramLabel = "URL", defaultValue = "http://127.0.0.1:8081", description = "The client's health listener. Default: ${DEFAULT-VALUE}.")
    private URI health = URI.create("http://127.0.0.1:8081");

    @Mixin
    private final OutputOption output = new OutputOption();

    @Override
    public int run() {
        ClientHealth listener = new ClientHealth(health);
        Output form = output.form();
        SocketHttp.Response response = listener.get("/status");
        JsonNode status = document(response);
        System.out.println(form.text(response.body(), () -> text(status)));
        return Set.of("connected", "waiting").contains(status.path("state").asText())
                ? ExitCode.DONE
                : ExitCode.FAILED;
    }

    private JsonNode document(SocketHttp.Response response) {
        JsonNode status = JsonTree.of(response.body());
        if (response.status() == 200 && status.path("state").isTextual()) {
            return status;
        }
        throw new CommandException(ExitCode.UNAVAILABLE,
                health + " is no client's health listener: it answered " + response.status());
    }

    private static String text(JsonNode status) {
        var rows = new ArrayList<List<String>>();
        for (String fact : List.of("state", "runtime", "host", "version", "certificateEnds", "proxy",
                "waitingSince",
                "priority")) {
            rows.add(List.of(fact, status.path(fact).asText("–")));
        }
        JsonNode failure = status.path("lastFailure");
        rows.add(List.of("lastFailure", failure.isObject()
                ? failure.path("at").asText() + " " + failure.path("reason").asText()
                : "–"));
        String facts = TextTable.facts(rows);
        if (status.path("sessions").isEmpty()) {
            return facts;
        }
        var sessions = new ArrayList<List<String>>();
        sessions.add(List.of("SERVER", "REMOTE", "SINCE", "RTT", "STREAMS"));
        for (JsonNode session : status.path("sessions")) {
            sessions.add(List.of(session.path("server").asText(), session.path("remote").asText(),
                    session.path("since").asText(),
                    session.path("rttSeconds").isNumber()
                            ? Math.round(session.path("rttSeconds").asDouble() * 1000) + " ms"
                            : "–",
                    session.path("streams").asText()));
        }
        return facts + "\n\n" + TextTable.of(sessions);
    }
}
