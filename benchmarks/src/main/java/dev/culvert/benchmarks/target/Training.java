package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.load.LoadRun;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * Makes the AOT caches of a build (JEP 514): its parts carry each kind of traffic for a while, and write what
 * they have loaded, linked and profiled when they end.
 */
public final class Training {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int BULK = 32 << 20;
    private static final int WEBHOOK = 2 << 10;
    private static final int MESSAGE = 128;

    private final Testbed bed;
    private final Launch launch;
    private final Path caches;
    private final Duration time;
    private final Consumer<String> progress;

    /**
     * @param dist the folder of the build, with the folder {@code lib} of its jars
     * @param caches the folder that the caches are written to
     * @param time of each kind of traffic
     * @param progress receives a line for people at each step
     */
    public Training(Testbed bed, Path dist, Path caches, Duration time, Consumer<String> progress) {
        this.bed = bed;
        this.launch = Launch.training(dist, caches);
        this.caches = caches;
        this.time = time;
        this.progress = progress;
    }

    /**
     * Makes the caches of server, client, router and short commands. Blocking.
     *
     * @throws BenchException if one of them was not made
     */
    public void run() throws IOException, InterruptedException {
        Upstream upstream = Upstream.start(bed);
        CulvertServer server = CulvertServer.start(bed, launch);
        Program client = server.client("demo", "local", "--router-url", upstream.address());
        client.await(CulvertPrograms.CONNECTED);
        use(new Target("server and client", server.edge(), CulvertServer.host("demo", "local"), List.of()));
        server.list();
        made("runtime");
        client.end(PATIENCE);
        made("client");
        server.program().end(PATIENCE);
        made("server");
        Program router = IngressTarget.router(bed, upstream, launch);
        use(IngressTarget.target(router));
        router.end(PATIENCE);
        made("router");
    }

    private void use(Target target) throws InterruptedException {
        use(target, Kind.GET, "/f", 0, 32, false);
        use(target, Kind.GET, "/f", 0, 32, true);
        use(target, Kind.WEBSOCKET, "/echo", MESSAGE, 8, false);
        use(target, Kind.EVENTS, "/events/100", 0, 8, false);
        use(target, Kind.GET, "/bytes/" + BULK, 0, 2, false);
        use(target, Kind.UPLOAD, "/upload", BULK, 2, false);
        use(target, Kind.WEBHOOK, "/webhooks/argo/push/x", WEBHOOK, 16, false);
    }

    private void use(Target target, Kind kind, String path, int bytes, int callers, boolean http2)
            throws InterruptedException {
        progress.accept(target.name() + ": " + path + (http2 ? ", HTTP/2" : ""));
        LoadRun.run(
                new LoadPlan(target.url(path), target.host(), kind, http2, bytes, callers, 0, Duration.ZERO,
                        time));
    }

    private void made(String command) throws IOException {
        Path cache = Launch.cache(caches, command);
        if (!Files.exists(cache)) {
            throw BenchException.failed(cache + " was not made");
        }
        progress.accept(cache + ", " + (Files.size(cache) >> 20) + " MiB");
    }
}
