package dev.culvert.benchmarks;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.config.Reason;
import dev.culvert.launcher.output.Progress;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.Spec;

/**
 * {@code culvert bench}. Exit codes: 0 done, 1 a failed run, 64 wrong usage, 69 a needed program is missing,
 * 78 an invalid scenario file.
 */
public final class Benchmarks {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;
    /** They only print. */
    private static final Set<String> QUICK = Set.of("", "report");
    /** They print nothing before their end. */
    private static final Set<String> QUIET = Set.of("load", "weight", "budget");

    private Benchmarks() {}

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** Creates a command line with this project's exit codes. It runs no command by itself. */
    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Bench()).addSubcommand(new LoadCommand())
                .addSubcommand(new CompareCommand())
                .addSubcommand(new StormCommand())
                .addSubcommand(new InboxCommand())
                .addSubcommand(new ReportCommand())
                .addSubcommand(new WeightCommand())
                .addSubcommand(new BudgetCommand())
                .addSubcommand(new TrainCommand());
        // The script removes its first argument, which names this module.
        line.setCommandName("culvert bench");
        line.setUsageHelpAutoWidth(true);
        pastable(line);
        line.getSubcommands().values().forEach(sub -> sub.getCommandSpec().exitCodeOnInvalidInput(USAGE));
        line.setParameterExceptionHandler(Benchmarks::wrongUsage);
        line.setExecutionStrategy(Benchmarks::run);
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            if (failure instanceof BenchException known) {
                command.getErr().println("culvert bench: " + known.getMessage());
                return known.exitCode();
            }
            if (failure instanceof IOException) { // a folder that can't be written, a program that is away
                command.getErr().println("culvert bench: " + file(failure) + Reason.of(failure));
                return UNAVAILABLE;
            }
            throw failure;
        });
        return line;
    }

    /** Runs a command, and shows on standard error that it is at work. */
    private static int run(ParseResult parsed) {
        String name = parsed.hasSubcommand() ? parsed.subcommand().commandSpec().name() : "";
        if (QUICK.contains(name)) {
            return new RunLast().execute(parsed);
        }
        String task = "culvert bench " + name;
        Progress progress = QUIET.contains(name) ? Progress.begin(task) : Progress.beside(task);
        try {
            return new RunLast().execute(parsed);
        } finally {
            progress.close();
        }
    }

    /** Examples are there to be pasted: no line of them is broken. */
    private static void pastable(CommandLine line) {
        line.getHelpSectionMap()
                .put(UsageMessageSpec.SECTION_KEY_FOOTER,
                        help -> String.join("\n", help.commandSpec().usageMessage().footer()) + "\n");
        line.getSubcommands().values().forEach(Benchmarks::pastable);
    }

    private static String file(Exception failure) {
        return failure instanceof FileSystemException named && named.getFile() != null
                ? named.getFile() + ": "
                : "";
    }

    private static int wrongUsage(ParameterException wrong, String[] args) {
        CommandLine line = wrong.getCommandLine();
        line.getErr().println("culvert bench: " + wrong.getMessage());
        line.getErr().println("Try '" + line.getCommandSpec().qualifiedName() + " --help'.");
        return USAGE;
    }

    /** The command without a subcommand, which reports the available ones. */
    @Command(name = "bench", mixinStandardHelpOptions = true, description = "Compares Culvert under load with other ways to reach an upstream.", exitCodeOnInvalidInput = USAGE, footer = {
            "", "Example:", "  culvert bench compare --connections 1,32,256"})
    static final class Bench implements Callable<Integer> {
        @Spec
        private CommandSpec spec = CommandSpec.create();

        @Override
        public Integer call() {
            throw new ParameterException(spec.commandLine(),
                    "a subcommand is needed: load, compare, storm, inbox, report, weight, budget or train");
        }
    }
}
