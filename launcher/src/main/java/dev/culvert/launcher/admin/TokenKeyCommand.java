package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.config.Reason;
import dev.culvert.launcher.output.JsonTree;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code culvert control-plane rotate-token-key}: asks a running control plane for a new key. */
@Command(name = "rotate-token-key", description = "Makes a new key that signs runtime tokens. Those of before verify for an hour more, so no token is refused.", footer = {
        "", "Example:",
        "  culvert control-plane rotate-token-key --api-key-file admin.key"})
public final class TokenKeyCommand implements Task.Brief {
    private static final Duration TIMEOUT = Duration.ofSeconds(15);
    private static final String VARIABLE = "CULVERT_CONTROL_PLANE";

    @Option(names = "--control-plane", paramLabel = "URL", description = "The control plane (CULVERT_CONTROL_PLANE). Default: http://127.0.0.1:3030.")
    private @Nullable URI address;

    @Option(names = "--api-key-file", paramLabel = "FILE", description = "File of an operator's API key (CULVERT_API_KEY_FILE). Default: admin.key.")
    private @Nullable Path keyFile;

    @Option(names = "--ca", paramLabel = "FILE", description = "PEM file of the authorities of an https control plane. Default: the public ones.")
    private @Nullable Path authorities;

    @Option(names = "--end-others", description = "Ends the keys of before and all tokens at once, for a key that leaked.")
    private boolean endOthers;

    @Option(names = "--new-wrapping-key", description = "First puts a new key into the control plane's tokenKeys.file, which then wraps all. Refused where several processes may use the database.")
    private boolean newWrappingKey;

    @Override
    public int run() {
        Map<String, String> environment = System.getenv();
        URI base = address(environment);
        String body = "{\"endOthers\":" + endOthers + ",\"newWrappingKey\":" + newWrappingKey + "}";
        try {
            var response = new SocketHttp(TIMEOUT, tls()).send("POST", base.resolve("/api/token-keys"),
                    Map.of("Authorization", "Bearer " + key(environment), "Content-Type", "application/json"),
                    body.getBytes(StandardCharsets.UTF_8));
            return print(new AdminClient.Answer(response.status(), response.body(),
                    JsonTree.of(response.body())));
        } catch (IOException e) {
            throw new AdminUnreachable("the control plane at " + base + " can't be reached: " + Reason.of(e)
                    + " (--control-plane or " + VARIABLE + " names another)");
        }
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

    private URI address(Map<String, String> environment) {
        if (address != null) {
            return HttpAddress.checked("--control-plane", address);
        }
        String given = environment.getOrDefault(VARIABLE, "http://127.0.0.1:3030");
        try {
            return HttpAddress.checked(VARIABLE, URI.create(given));
        } catch (IllegalArgumentException e) {
            throw HttpAddress.wrong(VARIABLE, given);
        }
    }

    private String key(Map<String, String> environment) {
        Path file = keyFile != null
                ? keyFile
                : Path.of(environment.getOrDefault("CULVERT_API_KEY_FILE", "admin.key"));
        try {
            String key = Files.readString(file).strip();
            if (key.isEmpty() || !key.chars().allMatch(c -> c > ' ' && c < 127)) {
                throw new CommandException(ExitCode.CONFIG,
                        file + ": holds no API key (expected: one line, as the control plane wrote it)");
            }
            return key;
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, "no API key: " + file
                    + " can't be read (--api-key-file or CULVERT_API_KEY_FILE names an operator's)");
        }
    }

    private @Nullable SSLSocketFactory tls() {
        try {
            return authorities == null ? null : AuthorityFile.trusting(authorities).getSocketFactory();
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE,
                    "--ca: " + authorities + " can't be used (expected: a PEM file of authorities)");
        }
    }
}
