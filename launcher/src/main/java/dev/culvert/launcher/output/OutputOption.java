package dev.culvert.launcher.output;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option of each command that prints a document. */
public final class OutputOption {
    @Option(names = "--output", paramLabel = "table|json|yaml", description = "table, for people, json, as it was answered, or yaml, the same data (CULVERT_OUTPUT). Default: table.")
    private @Nullable Output form;

    /** The format of the flag, else of the environment, else a table. */
    public Output form() {
        return Output.chosen(form, System.getenv());
    }

    /** {@link Output#text} of the chosen format. */
    public String text(String document, Supplier<String> forPeople) {
        return form().text(document, forPeople);
    }
}
