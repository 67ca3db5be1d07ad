package dev.culvert.launcher.command;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import picocli.CommandLine.Command;

/**
 * {@code culvert bench}: exists only for the help text. The script at the repository's root starts the
 * module.
 */
@Command(name = "bench", footer = {
        "", "Example:", "  culvert bench compare --connections 1,32,256"})
final class BenchCommand implements Task.Brief {
    @Override
    public int run() {
        throw new CommandException(ExitCode.USAGE,
                "bench is a module of its own, which ./culvert in the repository builds and starts");
    }
}
