package dev.culvert.launcher.command;

import dev.culvert.launcher.admin.AdminTokenCommand;
import dev.culvert.launcher.admin.AuditCommand;
import dev.culvert.launcher.admin.RuntimeCommand;
import dev.culvert.launcher.admin.WebhookCommand;
import dev.culvert.launcher.run.ConfiguredCommand;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The root of all commands. {@link #commandLine} builds the command tree. */
@Command(name = "culvert", description = "A reverse-tunnel and edge gateway.", subcommands = {
        ServerCommand.class,
        ClientCommand.class, RouterCommand.class, AppProxyCommand.class, ControlPlaneCommand.class,
        DemoCommand.class,
        RuntimeCommand.class,
        WebhookCommand.class, AdminTokenCommand.class, AuditCommand.class, CertsCommand.class,
        DoctorCommand.class,
        BenchCommand.class}, footer = {"",
                "Examples:",
                "  culvert demo",
                "  culvert server --config server.yaml",
                "  culvert client --config client.yaml",
                "Every command has --help with an example of its own."})
public final class CulvertCommand {

    /** Creates a command line with this project's exit codes. It runs no task by itself. */
    public static CommandLine commandLine() {
        var line = new CommandLine(new CulvertCommand());
        prepare(line);
        line.setExpandAtFiles(false).setUsageHelpAutoWidth(true).setUsageHelpLongOptionsMaxWidth(40);
        line.setParameterExceptionHandler(CulvertCommand::wrongUsage);
        line.registerConverter(URI.class, CulvertCommand::uri);
        return line;
    }

    /** The task of the selected command. Throws ParameterException if that command only groups others. */
    public static Task task(ParseResult parsed) {
        ParseResult named = parsed;
        while (named.hasSubcommand()) {
            named = named.subcommand();
        }
        Object command = named.commandSpec().userObject();
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

    private static void prepare(CommandLine line) {
        line.getCommandSpec().mixinStandardHelpOptions(true).versionProvider(new Version());
        line.getCommandSpec().exitCodeOnInvalidInput(ExitCode.USAGE);
        line.getCommandSpec().usageMessage().abbreviateSynopsis(true).sortOptions(false);
        if (line.getCommand() instanceof ConfiguredCommand part) {
            part.addFlags(line.getCommandSpec());
        }
        line.getSubcommands().values().forEach(CulvertCommand::prepare);
    }

    private static int wrongUsage(ParameterException wrong, String[] args) {
        CommandLine line = wrong.getCommandLine();
        PrintWriter err = line.getErr();
        err.println("culvert: " + wrong.getMessage());
        UnmatchedArgumentException.printSuggestions(wrong, err);
        err.println("Try '" + line.getCommandSpec().qualifiedName() + " --help'.");
        return ExitCode.USAGE;
    }

    /** The version from the jar's manifest. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[]{"culvert " + number()};
        }

        static String number() {
            @Nullable
            String version = CulvertCommand.class.getPackage().getImplementationVersion();
            return version == null ? "development" : version;
        }
    }
}
