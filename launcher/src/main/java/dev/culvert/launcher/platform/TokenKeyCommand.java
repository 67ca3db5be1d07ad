package dev.culvert.launcher.platform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.admin.AdminClient;
import dev.culvert.launcher.admin.AdminOptions;
import dev.culvert.launcher.run.Task;
import java.time.Instant;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code culvert control-plane rotate-token-key}: asks a running control plane for a new key. */
@Command(name = "rotate-token-key", description = "Makes a new key that signs runtime tokens. Those of before verify for an hour more, so no token is refused.", footer = {
        "", "Example:",
        "  culvert control-plane rotate-token-key --api-key-file admin.key"})
public final class TokenKeyCommand implements Task.Brief {
    @Mixin
    private PlatformOptions options = new PlatformOptions();

    @Option(names = "--end-others", description = "Ends the keys of before and all tokens at once, for a key that leaked.")
    private boolean endOthers;

    @Option(names = "--new-wrapping-key", description = "First puts a new key into the control plane's tokenKeys.file, which then wraps all. Refused where several processes may use the database.")
    private boolean newWrappingKey;

    @Override
    public int run() {
        return print(options.client(System.getenv())
                .call("POST", "/api/token-keys",
                        Map.of("endOthers", endOthers, "newWrappingKey", newWrappingKey)));
    }

    private static int print(AdminClient.Answer answer) {
        if (answer.ok()) {
            JsonNode made = answer.json();
            System.out.println("key " + made.path("kid").asText() + " signs from "
                    + Instant.ofEpochSecond(made.path("signsFrom").asLong()) + ", wrapped by "
                    + made.path("wrappedBy").asText());
        } else {
            System.err.println("culvert: " + answer.problem());
        }
        return AdminOptions.exitCode(answer.status());
    }
}
