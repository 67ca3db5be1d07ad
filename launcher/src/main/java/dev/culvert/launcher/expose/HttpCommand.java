package dev.culvert.launcher.expose;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.link.ClientEvent;
import dev.culvert.config.ConfigException;
import dev.culvert.launcher.logging.Logging;
import dev.culvert.launcher.output.Terminal;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import dev.culvert.routing.SingleUpstream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneId;
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
        "  culvert http app.internal:8080 --name staging", "  culvert http 5173 --host-header rewrite",
        "  culvert http https://127.0.0.1:8443 --insecure-upstream",
        "culvert connect stores the server once."})
public final class HttpCommand implements Task.LongRunning {
    /** A person who pressed Ctrl-C waits for requests in progress, but not for long. */
    private static final Duration MAX_GRACE = Duration.ofSeconds(3);

    @Parameters(paramLabel = "SERVICE", description = "The local service: a port, host:port, or a URL with http, https or h2c.")
    private String service = "";

    @Option(names = "--name", paramLabel = "NAME", description = "The connection to use, as culvert connect named it. Default: the only one, or the one named default.")
    private @Nullable String name;

    @Option(names = "--host-header", paramLabel = "HOST", description = "The Host that the service sees: rewrite, for its own, as development servers want, or a name. Origins, redirects and cookies follow. Default: the public one.")
    private @Nullable String hostHeader;

    @Option(names = "--upstream-ca", paramLabel = "FILE", description = "PEM file of the authorities that sign the certificate of an https service. Default: the system's.")
    private @Nullable Path upstreamCa;

    @Option(names = "--insecure-upstream", description = "Accept any certificate of an https service.")
    private boolean insecureUpstream;

    private final AtomicReference<@Nullable TunnelClient> running = new AtomicReference<>();
    private final AtomicReference<@Nullable RequestLines> lines = new AtomicReference<>();
    private final AtomicBoolean stopping = new AtomicBoolean();
    /** Keeps the lock from the garbage collector. */
    private final AtomicReference<@Nullable ConnectionLock> lock = new AtomicReference<>();

    @Override
    public Mono<Integer> run() {
        return Mono.fromCallable(() -> {
            Logging.errorsToStandardError();
            LocalService exposed = LocalService.parse(service);
            StoredServers servers = StoredServers.ofUser(System.getenv());
            String chosen = servers.chosen(name);
            lock.set(ConnectionLock.take(servers, chosen));
            return serve(servers.read(chosen), exposed);
        }).subscribeOn(Schedulers.boundedElastic()).flatMap(served -> served);
    }

    private Mono<Integer> serve(StoredServer server, LocalService exposed) {
        RequestLines shown = new RequestLines(System.out, Terminal.ofOutput().isColoured(),
                Clock.system(ZoneId.systemDefault())).start();
        lines.set(shown);
        var told = new Told(server.publicUrl().orElse(null), exposed, shown);
        if (!exposed.listens()) {
            shown.note("nothing listens at " + exposed.url() + " yet; until something does, callers get 502");
        }
        if (insecureUpstream) {
            shown.note("the certificate of " + exposed.url()
                    + " is not verified: whoever is in between can read and change what is sent");
        }
        return TunnelClient.start(configuration(server, exposed), told::of, shown::request)
                .doOnNext(running::set)
                .flatMap(client -> client.ended())
                .thenReturn(ExitCode.DONE);
    }

    private ClientConfig configuration(StoredServer server, LocalService exposed) {
        try {
            return server.client(null, exposed.url())
                    .towards(new SingleUpstream.Manner(hostHeader, upstreamCa, insecureUpstream));
        } catch (ConfigException e) {
            String option = switch (e.key()) {
                case "hostHeader" -> "--host-header";
                case "upstreamCa" -> "--upstream-ca";
                default -> "--insecure-upstream";
            };
            throw new CommandException(ExitCode.USAGE, option + ": expected " + e.expected());
        }
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        stopping.set(true);
        TunnelClient client = running.get();
        Duration patience = grace.compareTo(MAX_GRACE) < 0 ? grace : MAX_GRACE;
        Mono<Void> stopped = client == null ? Mono.empty() : client.stop(patience);
        return stopped.then(Mono.<Void>fromRunnable(() -> {
            RequestLines shown = lines.get();
            if (shown != null) {
                shown.end("ended; " + shown.requests() + " requests");
            }
            ConnectionLock held = lock.get();
            if (held != null) {
                held.close();
            }
        }).subscribeOn(Schedulers.boundedElastic()));
    }

    /** Tells the events of the connection, each once. Called on event loops. */
    private final class Told {
        private final @Nullable URI url;
        private final LocalService exposed;
        private final RequestLines lines;
        private final AtomicBoolean connected = new AtomicBoolean();
        private final AtomicReference<String> failure = new AtomicReference<>("");

        /** @param url as the server named it last; null if it named none */
        Told(@Nullable URI url, LocalService exposed, RequestLines lines) {
            this.url = url;
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
                case ClientEvent.Disconnected lost -> {
                    if (!stopping.get()) {
                        lines.note("connection lost, dialling again: " + lost.reason());
                    }
                }
                case ClientEvent.NotConnected failed -> {
                    if (!failed.reason().equals(failure.getAndSet(failed.reason()))) {
                        lines.note("not connected, trying on: " + failed.reason());
                    }
                }
            }
        }

        private String opened(ClientEvent.Connected live) {
            URI shown = url != null && live.host().equalsIgnoreCase(url.getHost())
                    ? url
                    : URI.create("https://" + live.host());
            return shown + " leads to " + exposed.url() + " (Ctrl-C ends it)";
        }
    }
}
