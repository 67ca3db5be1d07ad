package dev.culvert.launcher.output;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The format of what a command prints. */
public enum Output {
    table, json, yaml;

    static final String VARIABLE = "CULVERT_OUTPUT";

    /** The format of the flag, else of the environment, else a table. */
    static Output chosen(@Nullable Output flag, Map<String, String> environment) {
        if (flag != null) {
            return flag;
        }
        String named = environment.getOrDefault(VARIABLE, "");
        return switch (named.toLowerCase(Locale.ROOT)) {
            case "", "table" -> table;
            case "json" -> json;
            case "yaml" -> yaml;
            default -> throw new CommandException(ExitCode.USAGE,
                    VARIABLE + ": '" + named + "' (expected: table, json or yaml)");
        };
    }

    /**
     * A document in this format.
     *
     * @param document the document as JSON, which is returned as it is
     * @param forPeople the document as table
     * @return the text without its last line end
     */
    public String text(String document, Supplier<String> forPeople) {
        return switch (this) {
            case table -> forPeople.get();
            case json -> document;
            case yaml -> YamlText.of(JsonTree.of(document)).stripTrailing();
        };
    }
}
