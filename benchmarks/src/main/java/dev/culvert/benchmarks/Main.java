package dev.culvert.benchmarks;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code culvert bench}. Exit codes: 0 done, 1 a run failed, 64 wrong usage, 69 a needed program is missing. */
public final class Main {
    private static final int USAGE = 64;

    private Main() {}

    public static void main(String[] args) {
        CommandLine line = new CommandLine(new Bench()).addSubcommand(new CompareCommand());
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            if (failure instanceof BenchException known) {
                command.getErr().println("culvert bench: " + known.getMessage());
                return known.exitCode();
            }
            throw failure;
        });
        System.exit(line.execute(args));
    }

    /** The command without a subcommand: says what there is. */
    @Command(name = "bench", mixinStandardHelpOptions = true, description = "The load harness.", exitCodeOnInvalidInput = USAGE, footer = {
            "", "Example:", "  culvert bench compare --connections 1,32,256"})
    static final class Bench implements Callable<Integer> {
        @Spec
        private CommandSpec spec = CommandSpec.create();

        @Override
        public Integer call() {
            throw new ParameterException(spec.commandLine(), "a subcommand is needed: compare");
        }
    }
}
