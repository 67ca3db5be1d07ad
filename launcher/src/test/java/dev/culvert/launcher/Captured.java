package dev.culvert.launcher;

import dev.culvert.launcher.command.CulvertCommand;
import dev.culvert.launcher.run.Task;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;

/** What a command printed and ended with, when run inside the test's own JVM. */
public record Captured(int exitCode, String out, String err) {

    public static Captured run(CommandLine line, String... args) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        var outBytes = new ByteArrayOutputStream();
        var errBytes = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(outBytes, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(errBytes, true, StandardCharsets.UTF_8));
            line.setOut(new PrintWriter(System.out, true, StandardCharsets.UTF_8))
                    .setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
            line.setExecutionStrategy(parsed -> {
                Integer help = CulvertCommand.help(parsed);
                return help != null ? help : switch (CulvertCommand.task(parsed)) {
                    case Task.Brief brief -> Main.run(brief);
                    case Task.Reactive reactive -> Main.Reactive.code(reactive);
                };
            });
            int code = line.execute(args);
            return new Captured(code, outBytes.toString(StandardCharsets.UTF_8),
                    errBytes.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }

    public static Captured run(String... args) {
        String[] words = CulvertCommand.spelledOut(args);
        return run(CulvertCommand.commandLine(words), words);
    }
}
