package dev.culvert.launcher.command;

import dev.culvert.config.Reason;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** The health listener of a running client, for the commands that query or control it. */
record ClientHealth(URI address) {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    ClientHealth {
        if (address.getHost() == null || !"http".equals(address.getScheme())) {
            throw new CommandException(ExitCode.USAGE,
                    "--health: " + address + " (expected: http://host:port)");
        }
    }

    /** Sends a GET request. Errors: {@link CommandException} if no client answers. */
    Mono<HttpResponse<String>> get(String path) {
        return send(HttpRequest.newBuilder(address.resolve(path)));
    }

    /** Sends a POST request. Errors as for {@link #get}. */
    Mono<HttpResponse<String>> post(String path) {
        return send(HttpRequest.newBuilder(address.resolve(path))
                .header("Culvert-Control", "1")
                .POST(BodyPublishers.noBody()));
    }

    private Mono<HttpResponse<String>> send(HttpRequest.Builder request) {
        return Mono.fromFuture(() -> HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(TIMEOUT)
                .build()
                .sendAsync(request.timeout(TIMEOUT).build(), BodyHandlers.ofString()))
                .onErrorMap(e -> new CommandException(ExitCode.UNAVAILABLE,
                        "no client answers at " + address + ": " + Reason.of(e)
                                + " (is it running there? --health names its health.listen)"));
    }
}
