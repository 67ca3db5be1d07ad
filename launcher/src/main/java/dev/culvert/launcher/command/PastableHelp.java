package dev.culvert.launcher.command;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.IHelpFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The help of a command, in which no URL and no example is broken across lines: both are there to be pasted.
 * In columns, the characters of a URL after which a line may end are replaced until the lines are laid out.
 */
final class PastableHelp extends Help {
    private static final Pattern URL = Pattern.compile("\\S*://\\S*");
    /** Characters after or before which a line may end. */
    private static final String BREAKABLE = "-/:.,?&=@[]()";
    /** Their replacements begin here, with characters that are for private use: lines don't end at them. */
    private static final char FIRST = '\ue000';

    private PastableHelp(CommandSpec spec, ColorScheme colours) {
        super(spec, colours);
    }

    /** Makes the help of commands, only when it is asked for. */
    static final class Factory implements IHelpFactory {
        @Override
        public Help create(CommandSpec spec, ColorScheme colours) {
            return new PastableHelp(spec, colours);
        }
    }

    /** Lines as they are: a terminal wraps what is wider than it, and copies it in one piece. */
    @Override
    public String footer(Object... params) {
        var text = new StringBuilder();
        for (String line : commandSpec().usageMessage().footer()) {
            text.append(colorScheme().text(line)).append(System.lineSeparator());
        }
        return text.toString();
    }

    @Override
    public String optionList() {
        return unmasked(super.optionList());
    }

    @Override
    public String parameterList() {
        return unmasked(super.parameterList());
    }

    @Override
    public Layout createDefaultLayout() {
        return masking(super.createDefaultLayout());
    }

    @Override
    public Layout createDefaultLayout(List<OptionSpec> options, List<PositionalParamSpec> parameters,
            ColorScheme colours) {
        return masking(super.createDefaultLayout(options, parameters, colours));
    }

    private Layout masking(Layout layout) {
        IOptionRenderer options = createDefaultOptionRenderer();
        IParameterRenderer parameters = createDefaultParameterRenderer();
        return new Layout(layout.colorScheme(), layout.textTable(),
                (option, labels, colours) -> masked(options.render(option, labels, colours), colours),
                (parameter, labels, colours) -> masked(parameters.render(parameter, labels, colours),
                        colours));
    }

    /** Rows, each with the description in its last column. */
    private static Text[][] masked(Text[][] rows, ColorScheme colours) {
        for (Text[] row : rows) {
            String text = row[row.length - 1].plainString();
            if (text.contains("://")) {
                row[row.length - 1] = colours.text(URL.matcher(text)
                        .replaceAll(url -> Matcher.quoteReplacement(replaced(url.group(), false))));
            }
        }
        return rows;
    }

    private static String unmasked(String text) {
        return replaced(text, true);
    }

    private static String replaced(String text, boolean back) {
        var result = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int masked = c - FIRST;
            int breakable = back ? -1 : BREAKABLE.indexOf(c);
            result.append(back && masked >= 0 && masked < BREAKABLE.length()
                    ? BREAKABLE.charAt(masked)
                    : breakable >= 0 ? (char) (FIRST + breakable) : c);
        }
        return result.toString();
    }
}
