package dev.culvert.platform.triggers.hermes;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened.
 *
 * @param event the URI of the event
 * @param delivery tells it from others: the same one twice starts nothing twice; null: nobody has named it
 * @param fields what filters see, by lower-case names
 * @param variables what pipelines get, by name
 * @param whyNot why it starts nothing, whatever the filters say; null: it may
 */
public record Happening(String event, @Nullable String delivery, Map<String, String> fields,
        Map<String, String> variables, @Nullable String whyNot) {
    public Happening {
        fields = Map.copyOf(fields);
        variables = Map.copyOf(variables);
    }
}
