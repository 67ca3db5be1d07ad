package dev.culvert.launcher;

import dev.culvert.launcher.command.CulvertCommand;
import dev.culvert.launcher.logging.Logging;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** The process: reads the command line, runs one task, waits for it, and drains it when a signal comes. */
public final class Main {
    /** How long a drain may take; Kubernetes kills a pod 30 s after SIGTERM, unless told otherwise. */
    private static final Duration GRACE = Duration.ofSeconds(30);
    /** On top of the grace: when a drain itself hangs, the process ends all the same. */
    private static final Duration HANGS = Duration.ofSeconds(10);

    private Main() {}

    /** Ends the JVM with one of the codes of {@code ExitCode}. */
    public static void main(String[] args) {
        Logging.toStandardError();
        CommandLine line = CulvertCommand.commandLine();
        line.setExecutionStrategy(Main::run);
        int code = line.execute(args);
        Logging.end();
        System.exit(code);
    }

    private static int run(ParseResult parsed) {
        Integer help = CommandLine.executeHelpRequest(parsed);
        if (help != null) {
            return help;
        }
        Task task = CulvertCommand.task(parsed);
        var done = new AtomicBoolean();
        if (task instanceof Task.LongRunning longRunning) {
            DirectMemoryLimit.set();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> drain(longRunning, done), "drain"));
        }
        try {
            Integer code = task.run().onErrorResume(Failures::report).block();
            return code == null ? ExitCode.DONE : code;
        } finally {
            done.set(true);
        }
    }

    /** Runs when the JVM ends: for a signal it drains and makes the exit code 0, which the JVM would not. */
    private static void drain(Task.LongRunning task, AtomicBoolean done) {
        if (!done.get()) {
            task.stop(GRACE).onErrorComplete().block(GRACE.plus(HANGS));
            Logging.end();
            Runtime.getRuntime().halt(ExitCode.DONE);
        }
    }
}
