package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.load.LoadRun;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.ProcessSnapshot;
import dev.culvert.benchmarks.process.Program;
import dev.culvert.benchmarks.result.LoadFigures;
import dev.culvert.benchmarks.result.Usage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What Culvert costs while nobody asks for anything, from one start.
 *
 * @param serverStart seconds from the start of a server, with new data, until it listens
 * @param clientStart seconds from the start of a client, which has enrolled before, until a request is relayed
 * @param clientBytes the resident memory of an idle client
 * @param serverBytes that of a server with the tunnels of the runtimes
 * @param tunnelBytes what each of the many tunnels adds to it
 * @param cpu of a server with the many tunnels, in cores
 * @param requestMicros the CPU time of a request before there are many tunnels, at both ends, without JIT
 * @param requestMicrosAmong the same among the many tunnels
 */
public record Weight(double serverStart, double clientStart, long clientBytes, long serverBytes,
        double tunnelBytes, double cpu, double requestMicros, double requestMicrosAmong) {
    private static final String ACCOUNT = "demo";
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    /** The time in which one caller looks whether requests are relayed. */
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final int MOST_LOOKS = 2000;
    private static final int CALLERS = 32;

    /**
     * Measures. Blocking.
     *
     * @param runtimes clients that are processes of their own: 1 or more
     * @param tunnels those of one process besides; 0: none
     * @param idle the time before memory is read, and in which CPU time is counted
     * @param load the time of a load that tells the cost of a request
     */
    public static Weight measure(Testbed bed, Launch launch, int runtimes, int tunnels, Duration idle,
            Duration load)
            throws IOException, InterruptedException {
        Upstream upstream = Upstream.start(bed);
        require(answers(new LoadPlan(upstream.address().resolve("/f"), "", Kind.GET, false, 0, 1, 0,
                Duration.ZERO, LOOK)), "the upstream does not answer");
        bed.certificates();
        long began = System.nanoTime();
        CulvertServer server = CulvertServer.start(bed, launch);
        double serverStart = secondsSince(began);
        List<Program> clients = new ArrayList<>();
        Program first = server.client(ACCOUNT, "r0", "--to", upstream.address());
        var relayed = new LoadPlan(server.edge().resolve("/f"), CulvertServer.host(ACCOUNT, "r0"), Kind.GET,
                false, 0, 1, 0, Duration.ZERO, LOOK);
        require(answers(relayed), "no request was relayed");
        first.close();
        began = System.nanoTime();
        Program again = server.clientAgain(ACCOUNT, "r0", "--to", upstream.address());
        again.await(CulvertPrograms.CONNECTED);
        require(answers(relayed), "no request was relayed");
        double clientStart = secondsSince(began);
        clients.add(again);
        for (int i = 1; i < runtimes; i++) {
            clients.add(server.client(ACCOUNT, "r" + i, "--to", upstream.address()));
        }
        clients.forEach(client -> client.await(CulvertPrograms.CONNECTED));
        TimeUnit.NANOSECONDS.sleep(idle.toNanos());
        long clientBytes = used(clients.getFirst().pid(), Duration.ZERO).rssBytes();
        long serverBytes = used(server.pid(), Duration.ZERO).rssBytes();
        if (tunnels == 0) {
            return new Weight(serverStart, clientStart, clientBytes, serverBytes, 0, 0, 0, 0);
        }
        var path = new Target("culvert", server.edge(), CulvertServer.host(ACCOUNT, "r0"),
                List.of(server.pid(), clients.getFirst().pid()));
        requestMicros(path, load); // to warm up
        double alone = requestMicros(path, load);
        long before = used(server.pid(), Duration.ZERO).rssBytes();
        server.clients("many", tunnels).awaitLines("up ", tunnels, PATIENCE);
        TimeUnit.NANOSECONDS.sleep(idle.toNanos());
        Usage many = used(server.pid(), idle);
        return new Weight(serverStart, clientStart, clientBytes, serverBytes,
                (double) (many.rssBytes() - before) / tunnels,
                (double) many.cpuMicros() / TimeUnit.NANOSECONDS.toMicros(idle.toNanos()), alone,
                requestMicros(path, load));
    }

    /** The load is repeated until a request was relayed: a JVM that has just started may need that. */
    private static double requestMicros(Target path, Duration time) throws InterruptedException {
        var began = new AtomicReference<ProcessSnapshot>(path.snapshot());
        var ended = new AtomicReference<ProcessSnapshot>(began.get());
        var plan = new LoadPlan(path.url("/f"), path.host(), Kind.GET, false, 0, CALLERS, 0, Duration.ZERO,
                time);
        for (int looks = 0; looks < MOST_LOOKS; looks++) {
            LoadFigures figures = LoadRun.run(plan, () -> began.set(path.snapshot()),
                    () -> ended.set(path.snapshot()));
            if (figures.requests() > 0) {
                Usage usage = ended.get().since(began.get());
                return (double) (usage.cpuMicros() - usage.jitMicros()) / figures.requests();
            }
        }
        throw BenchException.failed("no request was relayed");
    }

    private static boolean answers(LoadPlan plan) throws InterruptedException {
        for (int looks = 0; looks < MOST_LOOKS; looks++) {
            if (LoadRun.run(plan).requests() > 0) {
                return true;
            }
        }
        return false;
    }

    private static void require(boolean met, String otherwise) {
        if (!met) {
            throw BenchException.failed(otherwise);
        }
    }

    private static Usage used(long pid, Duration during) throws InterruptedException {
        ProcessSnapshot before = ProcessSnapshot.of(List.of(pid));
        TimeUnit.NANOSECONDS.sleep(during.toNanos());
        return ProcessSnapshot.of(List.of(pid)).since(before);
    }

    private static double secondsSince(long nanos) {
        return (System.nanoTime() - nanos) / 1e9;
    }
}
