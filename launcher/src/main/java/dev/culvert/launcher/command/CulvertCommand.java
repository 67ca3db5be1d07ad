package dev.culvert.launcher.command;

import dev.culvert.launcher.output.Terminal;
import dev.culvert.launcher.run.ConfiguredCommand;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import dev.culvert.protocol.frame.Hello;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The root of all commands. {@link #commandLine()} builds the command tree. */
@Command(name = "culvert", description = "A reverse-tunnel and edge gateway.", footer = {"",
        "Examples:",
        "  culvert demo",
        "  culvert http 3000",
        "  culvert server --config server.yaml",
        "  culvert client --config client.yaml",
        "Every command has --help with an example of its own: culvert help client."})
public final class CulvertCommand {
    private static final Pattern RUNTIME = Pattern.compile("[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*");

    /** Creates a command line with all commands and this project's exit codes. It runs no task by itself. */
    public static CommandLine commandLine() {
        var line = root();
        for (RootCommand each : RootCommand.values()) {
            line.addSubcommand(each.word(), prepared(each.full()));
        }
        return configured(line);
    }

    /**
     * Creates a command line for these arguments. Of other commands it has only the names and descriptions,
     * so that their classes are not loaded.
     */
    public static CommandLine commandLine(String[] args) {
        int chosen = 0;
        while (chosen < args.length && args[chosen].startsWith("-")) { // no option of the root has a value
            chosen++;
        }
        String word = chosen < args.length ? args[chosen] : "";
        String next = chosen + 1 < args.length ? args[chosen + 1] : "";
        var line = root();
        for (RootCommand each : RootCommand.values()) {
            String name = each.word();
            line.addSubcommand(name, name.equals(word) ? prepared(each.before(next)) : each.listed());
        }
        return configured(line);
    }

    /**
     * {@code help client status} asks for the same as {@code client status --help}. Of a command that there
     * is not, its name is left, so that it is refused. A runtime may be named {@code acme/prod}, as it is
     * printed.
     */
    public static String[] spelledOut(String[] args) {
        if (args.length == 0 || !args[0].equals("help")) {
            return args.length > 0 && args[0].equals("runtime") ? withRuntime(args) : args;
        }
        Stream<String> words = Arrays.stream(args).skip(1);
        boolean known = args.length == 1
                || Arrays.stream(RootCommand.values()).anyMatch(each -> each.word().equals(args[1]));
        return (known ? Stream.concat(words, Stream.of("--help")) : words).toArray(String[]::new);
    }

    /** Makes two arguments of the first one that is {@code account/name}, unless it is an option's value. */
    private static String[] withRuntime(String[] args) {
        List<String> words = new ArrayList<>(List.of(args));
        for (int i = 1; i < words.size(); i++) {
            if (RUNTIME.matcher(words.get(i)).matches() && !words.get(i - 1).startsWith("-")) {
                String[] names = words.remove(i).split("/", 2);
                words.addAll(i, List.of(names));
                break;
            }
        }
        return words.toArray(String[]::new);
    }

    private static CommandLine root() {
        return prepared(new CommandLine(new CulvertCommand()));
    }

    /** Sets what holds for the root and all commands below it. */
    private static CommandLine configured(CommandLine line) {
        line.setExpandAtFiles(false).setUsageHelpAutoWidth(true).setUsageHelpLongOptionsMaxWidth(28);
        line.setHelpFactory(new PastableHelp.Factory());
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setParameterExceptionHandler(CulvertCommand::wrongUsage);
        line.registerConverter(URI.class, CulvertCommand::uri);
        return line;
    }

    /** Prints the help or the version that was asked for. Returns the exit code; null: neither was. */
    public static @Nullable Integer help(ParseResult parsed) {
        for (ParseResult named = parsed; named != null; named = named.subcommand()) {
            if (named.isUsageHelpRequested()) {
                named.commandSpec()
                        .commandLine()
                        .setColorScheme(Help.defaultColorScheme(
                                Terminal.ofOutput().isColoured() ? Help.Ansi.ON : Help.Ansi.OFF));
            }
        }
        return CommandLine.executeHelpRequest(parsed);
    }

    /** The task of the selected command. Throws ParameterException if that command only groups others. */
    public static Task task(ParseResult parsed) {
        ParseResult named = parsed;
        while (named.hasSubcommand()) {
            named = named.subcommand();
        }
        Object command = named.commandSpec().userObject();
        if (command instanceof Task.Brief brief) {
            return brief;
        }
        if (command instanceof ConfiguredCommand part) {
            part.readFlags(named);
        }
        if (command instanceof Task task) {
            return task;
        }
        throw new ParameterException(named.commandSpec().commandLine(), "a command is missing");
    }

    /** Parses a URI. Without this converter the error message would contain the name of a class. */
    private static URI uri(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new TypeConversionException("'" + text + "' (expected: http://host:port)");
        }
    }

    private static CommandLine prepared(CommandLine line) {
        line.getCommandSpec().mixinStandardHelpOptions(true).versionProvider(new Version());
        line.getCommandSpec().exitCodeOnInvalidInput(ExitCode.USAGE);
        line.getCommandSpec()
                .usageMessage()
                .abbreviateSynopsis(true)
                .sortOptions(false)
                .exitCodeListHeading("%nExit codes:%n")
                .exitCodeList(ExitCode.meanings());
        if (line.getCommand() instanceof ConfiguredCommand part) {
            part.addFlags(line.getCommandSpec());
        }
        line.getSubcommands().values().forEach(CulvertCommand::prepared);
        return line;
    }

    private static int wrongUsage(ParameterException wrong, String[] args) {
        CommandLine line = wrong.getCommandLine();
        PrintWriter err = line.getErr();
        err.println("culvert: " + String.valueOf(wrong.getMessage())
                .replaceFirst("is not an? (int|long)$",
                        "is no whole number"));
        UnmatchedArgumentException.printSuggestions(wrong, err);
        err.println("Try '" + line.getCommandSpec().qualifiedName() + " --help'.");
        return ExitCode.USAGE;
    }

    /** The version from the jar's manifest, the commit, the tunnel's protocol, and what it runs on. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[]{"culvert " + number() + ", commit " + commit() + ", protocol "
                    + Hello.SUBPROTOCOL, RuntimeFacts.line()};
        }

        static String number() {
            @Nullable
            String version = CulvertCommand.class.getPackage().getImplementationVersion();
            return version == null ? "development" : version;
        }

        /** The commit that was built, as the build wrote it down; "unknown" if it was built without git. */
        private static String commit() {
            try (InputStream written = Version.class.getResourceAsStream("commit")) {
                return written == null
                        ? "unknown"
                        : new String(written.readAllBytes(), StandardCharsets.US_ASCII).strip();
            } catch (IOException e) {
                return "unknown";
            }
        }
    }
}
