package dev.culvert.launcher;

import dev.culvert.launcher.admin.AdminUnreachable;
import dev.culvert.launcher.command.CulvertCommand;
import dev.culvert.launcher.logging.Logging;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import reactor.core.publisher.Mono;

/**
 * The entry point of the process. Parses the command line and runs one task. Loads only what that task needs.
 */
public final class Main {
    private static boolean usedReactor;

    private Main() {}

    /**
     * Ends the JVM with one of the codes of {@code ExitCode}. A short command that succeeded just returns: it
     * has left no thread, and {@code System.exit} loads the JDK's logging first.
     */
    public static void main(String[] args) {
        int code = execute(args);
        if (code != ExitCode.DONE || usedReactor) {
            System.exit(code);
        }
    }

    /** Runs a command and returns its exit code. */
    static int execute(String[] args) {
        String[] words = CulvertCommand.spelledOut(args);
        CommandLine line = CulvertCommand.commandLine(words);
        line.setExecutionStrategy(Main::run);
        return line.execute(words);
    }

    private static int run(ParseResult parsed) {
        Integer help = CulvertCommand.help(parsed);
        if (help != null) {
            return help;
        }
        Task task = CulvertCommand.task(parsed);
        if (task instanceof Task.Brief brief) {
            return run(brief);
        }
        usedReactor = true;
        return Reactive.run((Task.Reactive) task);
    }

    static int run(Task.Brief task) {
        try {
            return task.run();
        } catch (CommandException | AdminUnreachable told) {
            return Failures.report(told);
        } catch (ParameterException wrongUsage) {
            throw wrongUsage; // picocli reports it
        } catch (RuntimeException bug) {
            Logging.toStandardError();
            return Failures.report(bug);
        }
    }

    /** Runs a task with Reactor: waits for it, and drains it on a signal. */
    static final class Reactive {
        /** The maximum time of a drain. By default Kubernetes kills a pod 30 s after SIGTERM. */
        private static final Duration GRACE = Duration.ofSeconds(30);
        /** Additional time after the grace. If the drain hangs, the process ends after it. */
        private static final Duration HANGS = Duration.ofSeconds(10);

        private static final String LEAK_DETECTION = "io.netty.leakDetection.level";

        private Reactive() {}

        static int run(Task.Reactive task) {
            withoutLeakDetector();
            Logging.toStandardError();
            var done = new AtomicBoolean();
            if (task instanceof Task.LongRunning longRunning) {
                DirectMemoryLimit.set();
                Runtime.getRuntime().addShutdownHook(new Thread(() -> drain(longRunning, done), "drain"));
            }
            try {
                return code(task);
            } finally {
                done.set(true);
                Logging.end();
            }
        }

        /** The exit code of a task, whose failure is reported. */
        static int code(Task.Reactive task) {
            Integer code = task.run()
                    .onErrorResume(failure -> Mono.fromCallable(() -> Failures.report(failure)))
                    .block();
            return code == null ? ExitCode.DONE : code;
        }

        /**
         * Switches Netty's leak detector off, unless an option of the JVM sets its level. It takes a stack
         * trace for one of 128 buffers (2 % of the CPU time of a request); the tests run with its highest
         * level.
         */
        private static void withoutLeakDetector() {
            if (System.getProperty(LEAK_DETECTION) == null) {
                System.setProperty(LEAK_DETECTION, "disabled");
            }
        }

        /**
         * Runs as shutdown hook. After a signal it drains and sets exit code 0 in place of the JVM's own
         * code.
         */
        private static void drain(Task.LongRunning task, AtomicBoolean done) {
            if (!done.get()) {
                task.stop(GRACE).onErrorComplete().block(GRACE.plus(HANGS));
                Logging.end();
                Runtime.getRuntime().halt(ExitCode.DONE);
            }
        }
    }
}
