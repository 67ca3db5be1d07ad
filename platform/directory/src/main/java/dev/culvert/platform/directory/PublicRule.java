package dev.culvert.platform.directory;

import dev.culvert.handlers.rest.JsonFields;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A rule in the public platform's form: {@code {resource, action, team, tags}}. Its words are those of the
 * public platform, or ours; tags are labels, and {@code *} is any.
 */
final class PublicRule {
    private static final Map<String, String> ENTITIES = Map.of("pipeline", "pipelines", "cluster", "clusters",
            "project", "projects", "environment", "environments", "shared-configuration",
            "sharedConfiguration");
    private static final Map<String, String> ACTIONS = Map.of("read", "VIEW");
    private static final String ANY = "*";

    private PublicRule() {}

    /** Whether a body has this form. */
    static boolean isIn(JsonFields fields) {
        return fields.has("resource");
    }

    /** Reads the body. */
    static Bodies.NewRule of(JsonFields fields) {
        String resource = fields.text("resource");
        String action = fields.text("action");
        List<String> tags = fields.texts("tags");
        return new Bodies.NewRule(ENTITIES.getOrDefault(resource, resource),
                List.of(ACTIONS.getOrDefault(action, action.toUpperCase(Locale.ROOT))),
                List.of(fields.text("team")), List.of(),
                tags.isEmpty() || tags.contains(ANY) ? Map.of() : Map.of("label", tags), resource, action,
                null,
                tags);
    }
}
