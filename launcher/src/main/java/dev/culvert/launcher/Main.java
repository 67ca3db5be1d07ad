package dev.culvert.launcher;

import dev.culvert.launcher.command.CulvertCommand;
import dev.culvert.launcher.logging.Logging;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/**
 * The entry point of the process. Parses the command line, runs one task, waits for it, and drains it on a
 * signal.
 */
public final class Main {
    /** The maximum time of a drain. By default Kubernetes kills a pod 30 s after SIGTERM. */
    private static final Duration GRACE = Duration.ofSeconds(30);
    /** Additional time after the grace. If the drain hangs, the process ends after it. */
    private static final Duration HANGS = Duration.ofSeconds(10);

    private static final String LEAK_DETECTION = "io.netty.leakDetection.level";

    private Main() {}

    /** Ends the JVM with one of the codes of {@code ExitCode}. */
    public static void main(String[] args) {
        withoutLeakDetector();
        Logging.toStandardError();
        CommandLine line = CulvertCommand.commandLine();
        line.setExecutionStrategy(Main::run);
        int code = line.execute(args);
        Logging.end();
        System.exit(code);
    }

    /**
     * Switches Netty's leak detector off, unless an option of the JVM sets its level. It takes a stack trace
     * for one of 128 buffers (2 % of the CPU time of a request); the tests run with its highest level.
     */
    private static void withoutLeakDetector() {
        if (System.getProperty(LEAK_DETECTION) == null) {
            System.setProperty(LEAK_DETECTION, "disabled");
        }
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

    /**
     * Runs as shutdown hook. After a signal it drains and sets exit code 0 in place of the JVM's own code.
     */
    private static void drain(Task.LongRunning task, AtomicBoolean done) {
        if (!done.get()) {
            task.stop(GRACE).onErrorComplete().block(GRACE.plus(HANGS));
            Logging.end();
            Runtime.getRuntime().halt(ExitCode.DONE);
        }
    }
}
