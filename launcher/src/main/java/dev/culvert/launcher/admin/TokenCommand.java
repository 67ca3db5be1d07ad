package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * A command of the admin API whose response contains a new token. The token is either printed or written to a
 * file.
 */
abstract class TokenCommand extends AdminCommand {
    @Option(names = "--token-file", paramLabel = "FILE", description = "Write the token to FILE (mode 0600, replaced whole) instead of showing it.")
    private @Nullable Path file;

    /** Requests a token. {@code Failures} reports errors. */
    abstract AdminClient.Answer issue(AdminClient api);

    /**
     * The member of the response that holds the token. With the suffix {@code File} it is the member that
     * names the token's file.
     */
    String secret() {
        return "enrolmentToken";
    }

    /** Describes how to create another token if this one could not be written. */
    String again() {
        return "the runtime is there: culvert runtime enrol-token makes another token";
    }

    /** Returns the reason why the response will contain no token, or null. */
    @Nullable
    String whyNoToken() {
        return null;
    }

    @Override
    final AdminClient.Answer ask(AdminClient api) {
        Path wanted = file;
        String without = whyNoToken();
        if (wanted != null && without != null) {
            throw new CommandException(ExitCode.USAGE, "--token-file: " + without);
        }
        if (wanted == null) {
            return issue(api);
        }
        TokenFile reserved = TokenFile.reserve(wanted);
        try {
            return kept(issue(api), reserved);
        } finally {
            reserved.discard();
        }
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
