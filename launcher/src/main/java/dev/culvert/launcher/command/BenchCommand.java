package dev.culvert.launcher.command;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

/**
 * {@code culvert bench}: exists only for the help text. The script at the repository's root starts the
 * module.
 */
@Command(name = "bench", description = "Compares Culvert under load with other ways to reach an upstream.", footer = {
        "", "Example:", "  culvert bench compare --connections 1,32,256"})
final class BenchCommand implements Task {
    @Override
    public Mono<Integer> run() {
        return Mono.error(() -> new CommandException(ExitCode.USAGE,
                "bench is a module of its own, which ./culvert in the repository builds and starts"));
    }
}
