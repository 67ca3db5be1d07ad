package dev.culvert.launcher.platform;

import dev.culvert.launcher.admin.AuthorityFile;
import dev.culvert.launcher.admin.HttpAddress;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that name a control plane, a key for it, and the authorities that it is trusted by. */
final class PlatformOptions {
    private static final String VARIABLE = "CULVERT_CONTROL_PLANE";

    @Option(names = "--control-plane", paramLabel = "URL", description = "The control plane (CULVERT_CONTROL_PLANE). Default: http://127.0.0.1:3030.")
    private @Nullable URI address;

    @Option(names = "--api-key-file", paramLabel = "FILE", description = "File of an API key (CULVERT_API_KEY_FILE). Default: admin.key.")
    private @Nullable Path keyFile;

    @Option(names = "--ca", paramLabel = "FILE", description = "PEM file of the authorities of an https control plane. Default: the public ones.")
    private @Nullable Path authorities;

    /** A client of the control plane that the options name, else the environment. */
    PlatformClient client(Map<String, String> environment) {
        return new PlatformClient(address(environment), key(environment), tls());
    }

    /** As {@link #client}, for calls that need no key. */
    PlatformClient withoutKey(Map<String, String> environment) {
        return new PlatformClient(address(environment), null, tls());
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
                    + " can't be read (--api-key-file or CULVERT_API_KEY_FILE names one)");
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
