package dev.culvert.launcher.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What the second line of {@code --version} says: the Java run-time, and whether it uses an AOT cache. */
final class RuntimeFacts {
    private static final String OPTION = "-XX:AOTCache=";
    private static final String MAIN = "dev.culvert.launcher.Main";

    private RuntimeFacts() {}

    static String line() {
        return "Java " + Runtime.version() + ", "
                + cache(named(commandLine()), System.getProperty("java.vm.info"));
    }

    /**
     * Whether the JVM uses the cache that it was given. One that it can't use it leaves out, and with it the
     * archive of its own classes that it has otherwise: then its own description lacks the word "sharing".
     *
     * @param named the cache, or null for none
     * @param info the property {@code java.vm.info}
     */
    static String cache(@Nullable String named, @Nullable String info) {
        if (named == null) {
            return "no AOT cache (culvert cache makes them)";
        }
        return info != null && info.contains("sharing")
                ? "AOT cache in use: " + named
                : "AOT cache not usable: " + named + " (culvert cache makes it anew)";
    }

    /** The cache that an option of the JVM names, or null. */
    static @Nullable String named(String[] commandLine) {
        String named = null;
        for (String argument : commandLine) {
            if (argument.equals(MAIN)) {
                break;
            } else if (argument.startsWith(OPTION)) {
                named = argument.substring(OPTION.length());
            }
        }
        return named;
    }

    private static String[] commandLine() {
        try {
            return Files.readString(Path.of("/proc/self/cmdline")).split("\0", -1);
        } catch (IOException e) { // not Linux
            return ProcessHandle.current().info().arguments().orElse(new String[0]);
        }
    }
}
