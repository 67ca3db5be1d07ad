package dev.culvert.benchmarks;

import dev.culvert.benchmarks.process.Scheduling;
import dev.culvert.benchmarks.target.Testbed;
import dev.culvert.benchmarks.target.Training;
import dev.culvert.config.Durations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code culvert bench train}: AOT caches, with which the parts of a build start faster. */
@Command(name = "train", mixinStandardHelpOptions = true, description = "Makes AOT caches from traffic of each kind. Parts that the launcher script starts later use them, until the build changes.", footer = {
        "", "Example:", "  culvert bench train --dist launcher/target/dist"})
final class TrainCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--dist", required = true, description = "The build's folder with its folder lib; the caches are written to its folder cache.")
    private Path dist = Path.of("");

    @Option(names = "--time", defaultValue = "3s", description = "Of each kind of traffic. Default: ${DEFAULT-VALUE}")
    private String time = "";

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!Files.isDirectory(dist.resolve("lib"))) {
            throw wrong("--dist", dist, "a folder with a folder lib, such as launcher/target/dist");
        }
        Duration each = Durations.parse(time, 6, ChronoUnit.MILLIS, ChronoUnit.HOURS);
        if (each == null || each.isZero()) {
            throw wrong("--time", time, "a time such as 3s");
        }
        try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
            new Training(bed, dist, Files.createDirectories(dist.resolve("cache")), each, System.out::println)
                    .run();
        }
        return 0;
    }

    private ParameterException wrong(String option, Object value, String expected) {
        return new ParameterException(spec.commandLine(),
                option + ": " + value + " (expected: " + expected + ")");
    }
}
