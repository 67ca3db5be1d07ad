package dev.culvert.benchmarks;

import dev.culvert.benchmarks.process.ProcessSnapshot;
import dev.culvert.benchmarks.process.Program;
import dev.culvert.benchmarks.process.Scheduling;
import dev.culvert.benchmarks.target.CulvertTarget;
import dev.culvert.benchmarks.target.NginxTarget;
import dev.culvert.benchmarks.target.Target;
import dev.culvert.benchmarks.target.TargetKinds;
import dev.culvert.benchmarks.target.Testbed;
import dev.culvert.benchmarks.target.Upstream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The comparison without a scenario: wrk asks nginx with a small file directly, through two nginx hops with
 * as many workers each as Culvert has event loops, and through Culvert. Prints a table for each number of
 * connections.
 *
 * @param connections of the load
 * @param time of a run
 * @param rounds the runs of each target
 * @param warmUp requests before the first run, through each target
 */
record WrkComparison(List<Integer> connections, Duration time, int rounds, long warmUp,
        Scheduling scheduling) {
    private static final String RESOURCE = "/f";
    private static final int WARM_UP_CONNECTIONS = 32;
    private static final Duration WARM_UP_RUN = Duration.ofSeconds(2);

    WrkComparison {
        connections = List.copyOf(connections);
    }

    /** Starts the targets, runs all loads and ends the targets. Blocking. */
    void run() throws IOException {
        try (Testbed bed = Testbed.create(scheduling)) {
            Upstream upstream = Upstream.nginx(bed);
            List<Target> targets = List.of(TargetKinds.DIRECT.start(bed, upstream),
                    NginxTarget.ofTwoHops().start(bed, upstream),
                    CulvertTarget.withoutInbox().start(bed, upstream));
            targets.forEach(target -> scheduling.require(target.name(), target.processes()));
            System.out.println(Surroundings.describe());
            if (scheduling != Scheduling.NORMAL) {
                System.out.println("measured programs: " + scheduling.description());
            }
            targets.forEach(this::warmUp);
            for (int count : connections) {
                System.out.println();
                System.out.println(CompareTable.of(count, measure(targets, count)));
            }
        }
    }

    private Map<String, List<Measurement>> measure(List<Target> targets, int count) {
        Map<String, List<Measurement>> runs = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (Target target : targets) {
                ProcessSnapshot before = target.snapshot();
                WrkResult load = load(target, count, time);
                runs.computeIfAbsent(target.name(), name -> new ArrayList<>())
                        .add(Measurement.of(load, target.snapshot().since(before)));
            }
        }
        return runs;
    }

    private void warmUp(Target target) {
        for (long done = 0; done < warmUp;) {
            done += load(target, WARM_UP_CONNECTIONS, WARM_UP_RUN).requests();
        }
    }

    private static WrkResult load(Target target, int connections, Duration time) {
        List<String> command = new ArrayList<>(
                List.of("wrk", "-t1", "-c" + connections, "-d" + time.toSeconds() + "s",
                        "--latency"));
        if (!target.host().isEmpty()) {
            command.addAll(List.of("-H", "Host: " + target.host()));
        }
        command.add(target.url(RESOURCE).toString());
        return WrkResult.parse(Program.run(command));
    }
}
