package dev.culvert.launcher.command;

import dev.culvert.config.Reason;
import dev.culvert.launcher.admin.AuthorityFile;
import dev.culvert.launcher.admin.HttpAddress;
import dev.culvert.launcher.admin.SocketHttp;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code culvert probe}: one request, as {@code helm test} sends it. */
@Command(name = "probe", description = {"",
        "Exits with 0 when the status is the expected one, 1 when it is another, 69 when nobody answers within 10 s."}, footer = {
                "", "Example:",
                "  culvert probe https://acme-prod.tunnels.example.com/app-proxy/api/healthz --ca ca.crt"})
final class ProbeCommand implements Task.Brief {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @Parameters(paramLabel = "URL", description = "What is asked, http:// or https://.")
    private URI url = URI.create("http://127.0.0.1");

    @Option(names = "--expect", paramLabel = "STATUS", defaultValue = "200", description = "The expected status. Default: ${DEFAULT-VALUE}.")
    private int expected;

    @Option(names = "--ca", paramLabel = "FILE", description = "PEM file of the authorities that the certificate may come from, in place of the public ones.")
    private @Nullable Path authority;

    @Override
    public int run() {
        HttpAddress.checked("URL", url);
        int status = status();
        System.out.println(url + " " + status);
        return status == expected ? ExitCode.DONE : ExitCode.FAILED;
    }

    private int status() {
        try {
            SSLSocketFactory trusting = authority == null
                    ? null
                    : AuthorityFile.trusting(authority).getSocketFactory();
            return new SocketHttp(TIMEOUT, trusting).send("GET", url, Map.of(), null).status();
        } catch (IOException e) {
            throw new CommandException(ExitCode.UNAVAILABLE, url + ": " + Reason.of(e));
        }
    }
}
