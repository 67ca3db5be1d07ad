package dev.culvert.launcher.cache;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The folder that the launcher script starts from, and the run-time that runs this process.
 *
 * @param home the folder with {@code lib} and {@code args}
 * @param java the run-time's folder
 */
record Installation(Path home, Path java) {
    private static final String MAIN = "dev.culvert.launcher.Trainee";
    private static final String REHEARSAL = "dev.culvert.launcher.Rehearsal";

    /** The installation of this process. Throws {@link CommandException} if another run-time will be used. */
    static Installation running() {
        return of(System.getProperty("culvert.home"), Path.of(System.getProperty("java.home")));
    }

    static Installation of(@Nullable String home, Path java) {
        if (home == null || !Files.isDirectory(Path.of(home, "lib"))
                || !Files.isDirectory(Path.of(home, "args"))) {
            throw new CommandException(ExitCode.USAGE, "culvert.home: " + home
                    + " (expected: the installation's folder with lib and args; the script culvert sets it)");
        }
        Path own = Path.of(home, "runtime");
        if (Files.isExecutable(own.resolve("bin/java")) && !isSame(own, java)) {
            throw new CommandException(ExitCode.FAILED, "this is the run-time " + java + ", but " + home
                    + " starts with its own (expected: " + home + "/bin/culvert cache)");
        }
        return new Installation(Path.of(home).toAbsolutePath(), java);
    }

    /** A command of a part as the launcher script starts it, with one more option of the JVM. */
    List<String> command(String part, @Nullable String option, String... arguments) {
        return java(part, option, MAIN, List.of(arguments));
    }

    /** The commands that make the cache of short ones, in one process. */
    List<String> rehearsal(String option, String... arguments) {
        return java("cli", option, REHEARSAL, List.of(arguments));
    }

    private List<String> java(String part, @Nullable String option, String main, List<String> arguments) {
        List<String> command = new ArrayList<>(
                List.of(java.resolve("bin/java").toString(), "@" + home.resolve("args/" + part + ".args")));
        if (option != null) {
            command.add(option);
        }
        Path libraries = home.resolve("lib/native");
        if (Files.isDirectory(libraries)) {
            command.addAll(
                    List.of("-Djava.library.path=" + libraries, "-Dorg.sqlite.lib.path=" + libraries));
        }
        command.addAll(List.of("-Dculvert.home=" + home, "-cp", home.resolve("lib") + "/*", main));
        command.addAll(arguments);
        return command;
    }

    private static boolean isSame(Path one, Path other) {
        try {
            return Files.isSameFile(one, other);
        } catch (IOException e) {
            return false;
        }
    }
}
