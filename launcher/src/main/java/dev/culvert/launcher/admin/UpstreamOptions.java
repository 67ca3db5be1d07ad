package dev.culvert.launcher.admin;

import dev.culvert.config.Reason;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The upstream of a hosted runtime. */
final class UpstreamOptions {
    @Option(names = "--upstream", paramLabel = "URL", description = "The server beside the platform to which its requests go, as the tunnel server reaches it: http://, https:// or h2c://host[:port]. The runtime has no tunnel then.")
    private @Nullable String url;
    @Option(names = "--upstream-ca", paramLabel = "FILE", description = "PEM file of the authorities that may sign the certificate of an https:// upstream. Default: the public ones.")
    private @Nullable Path ca;

    boolean isGiven() {
        return url != null;
    }

    /** The fields of the admin API's request: none, or the upstream and its authorities. */
    Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (url != null) {
            fields.put("upstream", url);
        }
        Path authorities = ca;
        if (authorities != null) {
            fields.put("ca", read(authorities));
        }
        return fields;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1); // the server says what is wrong with it
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE,
                    "--upstream-ca: " + file + " can't be read: " + Reason.of(e));
        }
    }
}
