package dev.culvert.benchmarks;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code culvert bench storm}: the processes that {@code e2e/scripts/storm.py} combines. */
@Command(name = "storm", mixinStandardHelpOptions = true, subcommands = {StormClientsCommand.class,
        StormCallersCommand.class,
        StormFloodCommand.class}, description = "Parts of the storm that e2e/scripts/storm.py makes: many clients, callers, a flood.", footer = {
                "", "Example:", "  e2e/scripts/storm.py --clients 2000"})
final class StormCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "a subcommand is needed: clients, callers or flood");
    }
}
