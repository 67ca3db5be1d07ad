package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** A command of the admin API whose answer holds a new token: shown, or kept in a file and never shown. */
abstract class TokenCommand extends AdminCommand {
    @Option(names = "--token-file", paramLabel = "FILE", description = "Write the token to FILE (mode 0600, replaced whole) instead of showing it.")
    private @Nullable Path file;

    /** Asks for a token. Errors are for {@code Failures}. */
    abstract Mono<AdminClient.Answer> issue(AdminClient api);

    /** The answer's member that is the token; with {@code File} behind, the member that tells where it went. */
    String secret() {
        return "enrolmentToken";
    }

    /** What makes another token, when this one could not be written. */
    String again() {
        return "the runtime is there: culvert runtime enrol-token makes another token";
    }

    @Override
    final Mono<AdminClient.Answer> ask(AdminClient api) {
        Path wanted = file;
        return wanted == null
                ? issue(api)
                : Mono.using(() -> TokenFile.reserve(wanted),
                        reserved -> issue(api).map(answer -> kept(answer, reserved)), TokenFile::discard);
    }

    private AdminClient.Answer kept(AdminClient.Answer answer, TokenFile reserved) {
        if (!answer.ok()) {
            return answer;
        }
        if (!(answer.json() instanceof ObjectNode told) || !told.path(secret()).isTextual()) {
            throw new CommandException(ExitCode.FAILED, "--token-file: " + reserved.file()
                    + " was not written: the answer holds no token (is --admin a tunnel server's admin API?)");
        }
        try {
            reserved.write(told.path(secret()).asText());
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED, "--token-file: " + reserved.file()
                    + " could not be written; " + again());
        }
        ObjectNode shown = told.deepCopy();
        shown.remove(secret());
        shown.put(secret() + "File", reserved.file().toString());
        return new AdminClient.Answer(answer.status(), shown.toString(), shown);
    }
}
