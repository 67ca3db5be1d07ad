package dev.culvert.launcher.expose;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.link.ClientEvent;
import dev.culvert.launcher.logging.Logging;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.io.Console;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** {@code culvert http}: exposes one local service, and shows its requests. */
@Command(name = "http", footer = {"", "Examples:", "  culvert http 3000",
        "  culvert http app.internal:8080 --name staging", "  culvert http https://127.0.0.1:8443",
        "culvert connect stores the server once."})
public final class HttpCommand implements Task.LongRunning {
    /** A person who pressed Ctrl-C waits for requests in progress, but not for long. */
    private static final Duration MAX_GRACE = Duration.ofSeconds(3);

    @Parameters(paramLabel = "SERVICE", description = "The local service: a port, host:port, or a URL with http, https or h2c.")
    private String service = "";

    @Option(names = "--name", paramLabel = "NAME", description = "The connection to use, as culvert connect named it. Default: the only one, or the one named default.")
    private @Nullable String name;

    private final AtomicReference<@Nullable TunnelClient> running = new AtomicReference<>();
    private final AtomicReference<@Nullable RequestLines> lines = new AtomicReference<>();
    /** Holds the lock as long as it is open, which it is until the process ends. */
    private @Nullable FileChannel locked;

    @Override
    public Mono<Integer> run() {
        return Mono.fromCallable(() -> {
            Logging.errorsToStandardError();
            LocalService exposed = LocalService.parse(service);
            StoredServer server = StoredServers.ofUser(System.getenv()).chosen(name);
            lock(server);
            return serve(server, exposed);
        }).subscribeOn(Schedulers.boundedElastic()).flatMap(served -> served);
    }

    private Mono<Integer> serve(StoredServer server, LocalService exposed) {
        RequestLines shown = new RequestLines(System.out, isColoured(System.getenv()),
                Clock.system(ZoneId.systemDefault())).start();
        lines.set(shown);
        var told = new Told(server, exposed, shown);
        if (!exposed.listens()) {
            shown.note("nothing listens at " + exposed.url() + " yet; until something does, callers get 502");
        }
        return TunnelClient.start(server.client(null, exposed.url()), told::of, shown::request)
                .doOnNext(running::set)
                .flatMap(client -> client.ended())
                .thenReturn(ExitCode.DONE);
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        TunnelClient client = running.get();
        Duration patience = grace.compareTo(MAX_GRACE) < 0 ? grace : MAX_GRACE;
        Mono<Void> stopped = client == null ? Mono.empty() : client.stop(patience);
        return stopped.then(Mono.<Void>fromRunnable(() -> {
            RequestLines shown = lines.get();
            if (shown != null) {
                shown.note("ended; " + shown.requests() + " requests");
                shown.close();
            }
            unlock();
        }).subscribeOn(Schedulers.boundedElastic()));
    }

    /** Two commands with one identity would take the runtime over from each other for ever. */
    private void lock(StoredServer server) {
        Path file = server.folder().resolve("lock");
        try {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (channel.tryLock() == null) {
                throw running(server, Files.readString(file).strip());
            }
            locked = channel;
            channel.truncate(0);
            channel.write(ByteBuffer.wrap(
                    (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)));
        } catch (OverlappingFileLockException e) {
            throw running(server, String.valueOf(ProcessHandle.current().pid()));
        } catch (IOException e) {
            throw new CommandException(ExitCode.CONFIG,
                    file + " can't be written: " + e.getMessage()
                            + " (expected: a folder that this user may write to)");
        }
    }

    private void unlock() {
        FileChannel channel = locked;
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                // The end of the process releases it.
            }
        }
    }

    private static CommandException running(StoredServer server, String pid) {
        return new CommandException(ExitCode.UNAVAILABLE, "culvert http runs already with the connection "
                + server.name() + ", as process " + pid
                + "; end that one, or connect another runtime under another --name");
    }

    private static boolean isColoured(Map<String, String> environment) {
        return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false)
                && environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !"dumb".equals(environment.get("TERM"));
    }

    /** Tells the events of the connection, each once. Called on event loops. */
    private static final class Told {
        private final StoredServer server;
        private final LocalService exposed;
        private final RequestLines lines;
        private final AtomicBoolean connected = new AtomicBoolean();
        private final AtomicReference<String> failure = new AtomicReference<>("");

        Told(StoredServer server, LocalService exposed, RequestLines lines) {
            this.server = server;
            this.exposed = exposed;
            this.lines = lines;
        }

        void of(ClientEvent event) {
            switch (event) {
                case ClientEvent.Connected live -> {
                    failure.set("");
                    lines.note(connected.getAndSet(true) ? "connected again" : opened(live));
                }
                case ClientEvent.Waiting waiting -> lines.note(
                        "another client serves " + waiting.runtime() + ", this one waits until it has gone");
                case ClientEvent.Disconnected lost -> lines.note(
                        "connection lost, dialling again: " + lost.reason());
                case ClientEvent.NotConnected failed -> {
                    if (!failed.reason().equals(failure.getAndSet(failed.reason()))) {
                        lines.note("not connected, trying on: " + failed.reason());
                    }
                }
            }
        }

        private String opened(ClientEvent.Connected live) {
            URI url = server.publicUrl().orElseGet(() -> URI.create("https://" + live.host()));
            return url + " leads to " + exposed.url() + " (Ctrl-C ends it)";
        }
    }
}
