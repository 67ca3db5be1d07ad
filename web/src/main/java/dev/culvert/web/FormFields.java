package dev.culvert.web;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a query or of a form that was sent. Bounded in number; malformed escapes make it empty.
 *
 * @param values the values by name, decoded
 */
public record FormFields(Map<String, List<String>> values) {
    static final FormFields NONE = new FormFields(Map.of());
    private static final int MAX_FIELDS = 1024;

    static FormFields of(@Nullable String encoded) {
        if (encoded == null || encoded.isEmpty()) {
            return NONE;
        }
        try {
            return new FormFields(
                    new QueryStringDecoder(encoded, StandardCharsets.UTF_8, false, MAX_FIELDS).parameters());
        } catch (IllegalArgumentException e) {
            return NONE;
        }
    }

    /** The first value of a field, or an empty text. */
    public String text(String name) {
        List<String> all = all(name);
        return all.isEmpty() ? "" : all.getFirst();
    }

    /** All values of a field. */
    public List<String> all(String name) {
        return values.getOrDefault(name, List.of());
    }

    /** A whole number within bounds, or {@code fallback}. */
    public int number(String name, int fallback, int least, int most) {
        try {
            int number = Integer.parseInt(text(name));
            return number >= least && number <= most ? number : fallback;
        } catch (NumberFormatException e) {
            return fallback;
        }
    }
}
