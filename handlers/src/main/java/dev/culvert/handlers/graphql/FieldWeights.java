package dev.culvert.handlers.graphql;

import graphql.execution.instrumentation.InstrumentationState;
import graphql.execution.instrumentation.SimplePerformantInstrumentation;
import graphql.execution.instrumentation.parameters.InstrumentationFieldFetchParameters;
import graphql.schema.DataFetcher;
import java.util.Collection;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Counts each value that a field gives for the answer, before the engine keeps it. */
final class FieldWeights extends SimplePerformantInstrumentation {
    /** What a field takes beside its text: entries of maps, and what the engine keeps of it. */
    private static final int FIELD_BYTES = 100;

    private static final int ELEMENT_BYTES = 16;

    @Override
    public DataFetcher<?> instrumentDataFetcher(DataFetcher<?> fetcher,
            InstrumentationFieldFetchParameters parameters, @Nullable InstrumentationState state) {
        return field -> {
            Object value = fetcher.get(field);
            if (!(value instanceof CompletionStage<?>)) { // a root field, which counts its value when it has one
                GraphQlRun.of(field).budget().keep(FIELD_BYTES + of(value));
            }
            return value;
        };
    }

    /** The bytes of the texts in a value. Objects are counted by their fields. */
    static long of(@Nullable Object value) {
        if (value instanceof CharSequence text) {
            return text.length() * (long) charBytes(text);
        }
        long bytes = 0;
        if (value instanceof Collection<?> elements) {
            for (Object element : elements) {
                bytes += ELEMENT_BYTES + of(element);
            }
        }
        return bytes;
    }

    /** The JVM keeps a text with a character above U+00FF in two bytes a character. */
    private static int charBytes(CharSequence text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 0xff) {
                return 2;
            }
        }
        return 1;
    }
}
