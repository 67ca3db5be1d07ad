package dev.culvert.launcher.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.Reason;
import dev.culvert.launcher.output.TextTable;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code culvert runtime access ACCOUNT NAME}: changes and shows the access rules of a runtime. */
@Command(name = "access", description = "Gives a runtime the access rules of a file; without options it tells those it has. A change holds for the next request. docs/access.md describes the rules.", footer = {
        "", "Example:", "  culvert runtime access acme prod --file access.json"})
final class RuntimeAccessCommand extends AdminCommand {
    @Mixin
    private RuntimeArguments runtime = new RuntimeArguments();
    @Option(names = "--file", paramLabel = "F", description = "JSON of the rules, which take the place of those there are.")
    private @Nullable Path file;
    @Option(names = "--none", description = "Takes all rules away: who may call is what edge.access.default says.")
    private boolean none;

    @Override
    AdminClient.Answer ask(AdminClient api) {
        String path = runtime.path() + "/access";
        if (none) {
            return api.call("PUT", path, Map.of());
        }
        Path rules = file;
        return rules == null
                ? api.call("GET", path, null)
                : api.call("PUT", path, read(rules));
    }

    private static JsonNode read(Path file) {
        try {
            return JsonMapper.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .build()
                    .readTree(Files.readString(file));
        } catch (JsonProcessingException e) {
            throw new CommandException(ExitCode.CONFIG,
                    file + ": line " + e.getLocation().getLineNr()
                            + ": no JSON (expected: {\"rules\": […]})");
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, "--file: " + file + " can't be read: " + Reason.of(e));
        }
    }

    @Override
    String table(JsonNode answer) {
        JsonNode own = answer.path("own");
        var rows = new ArrayList<List<String>>();
        rows.add(List.of("PATH", "REQUIRES", "FROM"));
        own.path("rules")
                .forEach(rule -> rows.add(List.of(rule.path("path").asText(), rule.path("require").asText(),
                        addresses(rule))));
        rows.add(own.path("rules").isEmpty()
                ? List.of("any",
                        own.path("addresses").isEmpty() ? answer.path("withoutRules").asText() : "none",
                        addresses(own))
                : List.of("any other", "deny", addresses(own)));
        return TextTable.of(rows);
    }

    private static String addresses(JsonNode of) {
        List<String> blocks = of.path("addresses").valueStream().map(JsonNode::asText).toList();
        return blocks.isEmpty() ? "anywhere" : String.join(", ", blocks);
    }
}
