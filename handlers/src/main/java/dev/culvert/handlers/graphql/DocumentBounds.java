package dev.culvert.handlers.graphql;

import graphql.language.Document;
import graphql.language.Field;
import graphql.language.FragmentDefinition;
import graphql.language.FragmentSpread;
import graphql.language.InlineFragment;
import graphql.language.OperationDefinition;
import graphql.language.Selection;
import graphql.language.SelectionSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts the fields of a document with its fragments expanded. Stops at the first limit, so cycles of
 * fragments end here too.
 */
final class DocumentBounds {
    private final GraphQlLimits limits;
    private final Map<String, FragmentDefinition> fragments = new HashMap<>();
    private int fields;
    private int rootFields;
    private int mostRootFields;
    private int steps;

    private DocumentBounds(GraphQlLimits limits) {
        this.limits = limits;
    }

    /** Describes the limit that the document exceeds, for its author. Null if it exceeds none. */
    static @Nullable String broken(Document document, GraphQlLimits limits) {
        return new DocumentBounds(limits).broken(document);
    }

    /** The number of root fields of the operation with most. */
    static int rootFields(Document document, GraphQlLimits limits) {
        var bounds = new DocumentBounds(limits);
        bounds.broken(document);
        return bounds.mostRootFields;
    }

    private @Nullable String broken(Document document) {
        document.getDefinitionsOfType(FragmentDefinition.class)
                .forEach(fragment -> fragments.put(fragment.getName(), fragment));
        for (OperationDefinition operation : document.getDefinitionsOfType(OperationDefinition.class)) {
            rootFields = 0;
            String broken = selections(operation.getSelectionSet(), 1, 1);
            mostRootFields = Math.max(mostRootFields, rootFields);
            if (broken != null) {
                return broken;
            }
        }
        return null;
    }

    /** {@code nesting} bounds this recursion: it also counts fragments, which add no depth. */
    private @Nullable String selections(@Nullable SelectionSet set, int depth, int nesting) {
        if (set == null) {
            return null;
        }
        for (Selection<?> selection : set.getSelections()) {
            if (++steps > 2 * limits.maxFields() || nesting > 4 * limits.maxDepth()) {
                return "the document spreads its fragments too often";
            }
            String broken = switch (selection) {
                case Field field -> field(field, depth, nesting);
                case InlineFragment inline -> selections(inline.getSelectionSet(), depth, nesting + 1);
                case FragmentSpread spread -> spread(spread, depth, nesting);
                default -> null;
            };
            if (broken != null) {
                return broken;
            }
        }
        return null;
    }

    private @Nullable String field(Field field, int depth, int nesting) {
        if (++fields > limits.maxFields()) {
            return "the document has more than " + limits.maxFields() + " fields";
        }
        if (depth > limits.maxDepth()) {
            return "the document is deeper than " + limits.maxDepth() + " fields";
        }
        if (depth == 1 && ++rootFields > limits.maxRootFields()) {
            return "the operation has more than " + limits.maxRootFields() + " root fields";
        }
        return selections(field.getSelectionSet(), depth + 1, nesting + 1);
    }

    private @Nullable String spread(FragmentSpread spread, int depth, int nesting) {
        FragmentDefinition fragment = fragments.get(spread.getName());
        return fragment == null ? null : selections(fragment.getSelectionSet(), depth, nesting + 1);
    }
}
