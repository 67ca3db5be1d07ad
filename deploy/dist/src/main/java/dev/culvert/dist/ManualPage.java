package dev.culvert.dist;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The manual page of one command, in the macros of man(7). Its content is that of {@code --help}. */
final class ManualPage {
    private final CommandSpec command;
    private final StringBuilder page = new StringBuilder();

    private ManualPage(CommandSpec command) {
        this.command = command;
    }

    /** A page for the command and for each command below it. */
    static Stream<ManualPage> all(CommandLine line) {
        return Stream.concat(Stream.of(new ManualPage(line.getCommandSpec())),
                line.getSubcommands().values().stream().distinct().flatMap(ManualPage::all));
    }

    /** The name of the page: the command's words, joined by hyphens. */
    String name() {
        return command.qualifiedName("-");
    }

    /**
     * Renders the page.
     *
     * @param version of the program
     * @param date of the build, as 2026-11-24
     */
    String text(String version, String date) {
        page.setLength(0);
        page.append(String.format(Locale.ROOT, ".TH \"%s\" 1 \"%s\" \"culvert %s\" \"Culvert\"%n",
                escaped(name().toUpperCase(Locale.ROOT)), date, escaped(version)));
        section("NAME");
        line(name() + " - " + String.join(" ", described(command)).strip());
        section("SYNOPSIS");
        line(new Help(command, Help.defaultColorScheme(Ansi.OFF)).synopsis(0).strip());
        List<OptionSpec> options = command.options().stream().filter(option -> !option.hidden()).toList();
        if (!command.positionalParameters().isEmpty() || !options.isEmpty()) {
            section("OPTIONS");
        }
        command.positionalParameters().forEach(given -> entry(given.paramLabel(), text(given)));
        for (OptionSpec option : options) {
            String label = option.arity().max() > 0 ? "=" + option.paramLabel() : "";
            entry(String.join(", ", option.names()) + label, text(option));
        }
        commands();
        footer();
        return page.toString();
    }

    private void commands() {
        List<CommandLine> below = command.subcommands().values().stream().distinct().toList();
        if (below.isEmpty()) {
            return;
        }
        section("COMMANDS");
        for (CommandLine one : below) {
            entry(one.getCommandName(), String.join(" ", described(one.getCommandSpec())) + " See "
                    + one.getCommandSpec().qualifiedName("-") + "(1).");
        }
    }

    /** The examples. Their lines are kept as they are. */
    private void footer() {
        List<String> lines = new ArrayList<>(List.of(command.usageMessage().footer()));
        lines.removeIf(String::isBlank);
        if (lines.isEmpty()) {
            return;
        }
        section("EXAMPLES");
        page.append(".nf\n");
        lines.forEach(this::line);
        page.append(".fi\n");
    }

    private static List<String> described(CommandSpec command) {
        return List.of(command.usageMessage().description());
    }

    private static String text(ArgSpec given) {
        return String.join(" ", given.description());
    }

    private void section(String title) {
        page.append(".SH ").append(title).append('\n');
    }

    private void entry(String term, String text) {
        page.append(".TP\n\\fB").append(escaped(term)).append("\\fR\n");
        line(text);
    }

    private void line(String text) {
        page.append(escaped(text)).append('\n');
    }

    /** Neither a backslash nor a control line of roff is left, and hyphens can be pasted. */
    private static String escaped(String text) {
        String plain = text.replace("\\", "\\e").replace("-", "\\-");
        return plain.startsWith(".") || plain.startsWith("'") ? "\\&" + plain : plain;
    }
}
