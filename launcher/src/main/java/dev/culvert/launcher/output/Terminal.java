package dev.culvert.launcher.output;

import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;

/**
 * What one of the process's outputs can show. Colour and cut lines are for terminals alone: what goes to a
 * pipe or a file is whole and plain.
 */
public final class Terminal {
    /** The width of an output that is no terminal. */
    public static final int UNBOUNDED = Integer.MAX_VALUE;

    private static final int STANDARD_OUTPUT = 1;
    private static final int STANDARD_ERROR = 2;
    private static final Pattern DEVICE = Pattern.compile("/dev/(pts/\\d+|tty\\w*|console)");
    private static final int UNKNOWN = 0;
    /** {@code stty} answers at once; a terminal that hangs must not hang the command. */
    private static final long PATIENCE_SECONDS = 1;

    private final boolean present;
    private final Map<String, String> environment;
    private final IntSupplier asked;

    /**
     * @param present whether the output is a terminal
     * @param asked asks the terminal for its width in columns; 0 if it does not tell. Called when the width
     *        matters, since it takes a process
     */
    Terminal(boolean present, Map<String, String> environment, IntSupplier asked) {
        this.present = present;
        this.environment = environment;
        this.asked = asked;
    }

    /** The terminal behind standard output. */
    public static Terminal ofOutput() {
        return new Terminal(isTerminal(STANDARD_OUTPUT), System.getenv(), Terminal::columns);
    }

    /** The terminal behind standard error. */
    public static Terminal ofErrors() {
        return new Terminal(isTerminal(STANDARD_ERROR), System.getenv(), Terminal::columns);
    }

    /** Whether there is one. */
    public boolean isPresent() {
        return present;
    }

    /** Whether it shows colours, and its user wants them (no-color.org). */
    public boolean isColoured() {
        return present && environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !"dumb".equals(environment.get("TERM"));
    }

    /** Whether a line of it can be written anew. */
    public boolean erases() {
        return present && !"dumb".equals(environment.get("TERM"));
    }

    /** The columns of a line: as the terminal says, else as {@code COLUMNS}, else unbounded. Blocks. */
    public int width() {
        if (!present) {
            return UNBOUNDED;
        }
        int said = asked.getAsInt();
        int columns = said > 0 ? said : number(environment.getOrDefault("COLUMNS", ""));
        return columns > 0 ? columns : UNBOUNDED;
    }

    /** The JDK tells of standard input and output together, so the descriptor is read where possible. */
    @SuppressWarnings("SystemConsoleNull") // it is null without a terminal, unless -Djdk.console says otherwise
    private static boolean isTerminal(int descriptor) {
        try {
            Path device = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor));
            return DEVICE.matcher(device.toString()).matches();
        } catch (IOException | UnsupportedOperationException e) {
            Console console = System.console();
            return console != null && console.isTerminal();
        }
    }

    /** The JDK knows no width; {@code stty} is wherever a terminal is. */
    private static int columns() {
        try {
            Process stty = new ProcessBuilder("stty", "size").redirectInput(new File("/dev/tty"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!stty.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                stty.destroyForcibly();
                return UNKNOWN;
            }
            String[] size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .strip()
                    .split(" ", -1);
            return size.length == 2 ? number(size[1]) : UNKNOWN;
        } catch (IOException e) {
            return UNKNOWN;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return UNKNOWN;
        }
    }

    private static int number(String text) {
        return !text.isEmpty() && text.length() <= 5 && text.chars().allMatch(c -> c >= '0' && c <= '9')
                ? Integer.parseInt(text)
                : UNKNOWN;
    }
}
