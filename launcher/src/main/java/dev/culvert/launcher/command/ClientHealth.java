package dev.culvert.launcher.command;

import dev.culvert.config.Reason;
import dev.culvert.launcher.admin.HttpAddress;
import dev.culvert.launcher.admin.SocketHttp;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;

/** The health listener of a running client, for the commands that query or control it. */
record ClientHealth(URI address) {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    ClientHealth {
        HttpAddress.checked("--health", address);
    }

    /** Sends a GET request. Throws {@link CommandException} if no client answers. */
    SocketHttp.Response get(String path) {
        return send("GET", path, Map.of());
    }

    /** Sends a POST request. Throws as {@link #get}. */
    SocketHttp.Response post(String path) {
        return send("POST", path, Map.of("Culvert-Control", "1"));
    }

    private SocketHttp.Response send(String method, String path, Map<String, String> fields) {
        try {
            return new SocketHttp(TIMEOUT).send(method, address.resolve(path), fields, null);
        } catch (IOException e) {
            throw new CommandException(ExitCode.UNAVAILABLE,
                    "no client answers at " + address + ": " + Reason.of(e)
                            + " (is it running there? --health names its health.listen)");
        }
    }
}
