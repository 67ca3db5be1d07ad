package dev.culvert.launcher.expose;

import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.identity.EnrolmentException;
import dev.culvert.client.identity.Identity;
import dev.culvert.client.identity.IdentitySource;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Reason;
import dev.culvert.http.net.EventLoops;
import dev.culvert.launcher.logging.Logging;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** {@code culvert connect}: enrols once at a server, and stores what {@code culvert http} needs. */
@Command(name = "connect", footer = {"", "Examples:",
        "  culvert connect wss://tunnels.example.com:7443 --token-file token",
        "  culvert connect wss://tunnels.example.com:7443 --token-file token --name staging",
        "An administrator of the server makes the token: culvert runtime create ACCOUNT NAME"})
public final class ConnectCommand implements Task.Reactive {
    private static final int MAX_TOKEN_FILE_BYTES = 1024;

    @Parameters(paramLabel = "URL", arity = "1..*", description = "Address of the tunnel server, wss://host:port; several are of the same server, tried in order.")
    private List<URI> server = List.of();

    @Option(names = "--token-file", paramLabel = "FILE", required = true, description = "File of the enrolment token. Used once; the file may be removed afterwards.")
    private Path token = Path.of("");

    @Option(names = "--name", paramLabel = "NAME", defaultValue = StoredServers.DEFAULT, description = "Your name for this connection. Default: ${DEFAULT-VALUE}.")
    private String name = StoredServers.DEFAULT;

    @Option(names = "--server-ca", paramLabel = "FILE", description = "PEM file of the authorities that sign the server's certificate, in place of the token's pin.")
    private @Nullable Path serverCa;

    @Option(names = "--extra-ca", paramLabel = "FILE", description = "PEM file of authorities that are trusted in addition: that of a proxy that inspects TLS.")
    private @Nullable Path extraCa;

    @Option(names = "--replace", description = "Replace the connection that has this name.")
    private boolean replace;

    @Override
    public Mono<Integer> run() {
        return Mono.fromCallable(() -> prepared(StoredServers.ofUser(System.getenv())))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(attempt -> enrolled(attempt).publishOn(Schedulers.boundedElastic())
                        .map(identity -> told(attempt, identity))
                        .doFinally(done -> attempt.lock().close()))
                .onErrorMap(ConfigException.class, this::inTheWordsOfThisCommand);
    }

    /**
     * One run.
     *
     * @param folder where the connection is made
     */
    private record Attempt(StoredServers servers, ConnectionLock lock, Path folder, ClientConfig config) {}

    private Attempt prepared(StoredServers servers) {
        Logging.errorsToStandardError();
        StoredServers.requireName(name);
        String text = token();
        ConnectionLock lock = ConnectionLock.take(servers, name);
        try {
            servers.recover(name);
            if (!replace && servers.has(name)) {
                throw new CommandException(ExitCode.USAGE,
                        "there is a connection named " + name + " already, in "
                                + servers.root().resolve(name)
                                + " (expected: culvert http PORT, which uses it; --name for another one; --replace to"
                                + " enrol anew in its place)");
            }
            return attempt(servers, lock, servers.unfinished(name, text));
        } catch (RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    private Attempt attempt(StoredServers servers, ConnectionLock lock, Path folder) {
        try {
            var stored = new StoredServer(name, folder, server);
            stored.write(serverCa, extraCa);
            return new Attempt(servers, lock, folder, stored.client(token, null));
        } catch (IOException e) {
            StoredServers.abandon(folder);
            throw new CommandException(ExitCode.CONFIG, "--server-ca and --extra-ca: " + Reason.of(e)
                    + " (expected: PEM files that can be read)");
        } catch (RuntimeException e) {
            StoredServers.abandon(folder);
            throw e;
        }
    }

    /** The token's text. It is read again, and judged, by the enrolment. */
    private String token() {
        try {
            if (Files.isRegularFile(token) && Files.size(token) <= MAX_TOKEN_FILE_BYTES) {
                return Files.readString(token).strip();
            }
        } catch (IOException e) {
            throw new CommandException(ExitCode.CONFIG, "--token-file: " + token + ": " + Reason.of(e));
        }
        throw new CommandException(ExitCode.CONFIG, "--token-file: expected an existing file that holds an"
                + " enrolment token; " + token + (Files.exists(token) ? " is none" : " is not there"));
    }

    private Mono<Identity> enrolled(Attempt attempt) {
        return Mono.usingWhen(Mono.fromSupplier(() -> EventLoops.create(1)),
                loops -> new IdentitySource(attempt.config(), loops, Clock.systemUTC()).identity(),
                loops -> loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)))
                .onErrorMap(EnrolmentException.Failed.class,
                        failed -> new CommandException(ExitCode.UNAVAILABLE, failed.getMessage()
                                + "\nculvert: connect again with the same token once that is mended; culvert doctor --server "
                                + server.getFirst() + " looks at the way there"))
                .doOnError(failed -> StoredServers.abandon(attempt.folder()));
    }

    private CommandException inTheWordsOfThisCommand(ConfigException wrong) {
        String what = switch (wrong.key()) {
            case "server" -> "URL";
            case "enrolmentTokenFile" -> "--token-file";
            case "serverCa" -> "--server-ca";
            case "extraCa" -> "--extra-ca";
            default -> wrong.key();
        };
        return new CommandException(wrong.key().equals("server") ? ExitCode.USAGE : ExitCode.CONFIG,
                what + ": expected " + wrong.expected());
    }

    private int told(Attempt attempt, Identity identity) {
        Path folder = attempt.servers().finish(name, attempt.folder());
        String runtime = identity.client().account() + "/" + identity.client().runtime();
        String url = IdentitySource.publicUrl(folder).map(URI::toString).orElse("known once it runs");
        System.out.println("connected as " + runtime + ", whose public URL is " + url);
        System.out.println("stored as " + name + " in " + folder);
        System.out.println("next: culvert http 3000"
                + (name.equals(StoredServers.DEFAULT) ? "" : " --name " + name));
        return ExitCode.DONE;
    }
}
