package dev.culvert.platform.triggers.hermes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/**
 * The filters of a trigger: a pattern of RE2 by the name of a field. All must be found in their fields;
 * {@code SKIP:} in front of one turns it around. A filter whose pattern or field is empty does not count.
 *
 * <p>Patterns and inputs are bounded and matched in linear time, because accounts write them.
 */
final class Filters {
    private static final int MAX = 16;
    private static final int MAX_PATTERN = 1_024;
    private static final int MAX_INPUT = 64 << 10;
    /** Repetitions are written out by the compiler, those within others again and again. */
    private static final long MAX_REPETITIONS = 1_000;
    private static final java.util.regex.Pattern REPETITION = java.util.regex.Pattern
            .compile("\\{(\\d{1,9})?(?:,(\\d{1,9})?)?}");
    private static final String SKIP = "SKIP:";
    private static final String NAME = "[a-z][a-z0-9_]{0,63}";
    /** A trigger with this filter takes pull requests of forks; others do not. */
    static final String FORK = "fork";
    private static final JsonMapper JSON = new JsonMapper();
    private static final TypeReference<TreeMap<String, String>> TEXTS = new TypeReference<>() {
    };

    private final Map<String, Filter> byField;

    private Filters(Map<String, Filter> byField) {
        this.byField = byField;
    }

    /** One filter. */
    private record Filter(String text, boolean isSkipping, Pattern pattern) {}

    /** Throws IllegalArgumentException, which names the filter. */
    static Filters of(Map<String, String> texts) {
        if (texts.size() > MAX) {
            throw new IllegalArgumentException(
                    "filters: " + texts.size() + " (expected: at most " + MAX + ")");
        }
        Map<String, Filter> filters = new TreeMap<>();
        texts.forEach((field, text) -> {
            if (!field.matches(NAME)) {
                throw new IllegalArgumentException(
                        "filters: the name of a field is wrong (expected: a to z, 0"
                                + " to 9 and _, as tag)");
            }
            if (!text.isEmpty()) {
                filters.put(field, filter(field, text));
            }
        });
        return new Filters(filters);
    }

    private static Filter filter(String field, String text) {
        boolean isSkipping = text.startsWith(SKIP);
        String pattern = isSkipping ? text.substring(SKIP.length()) : text;
        if (pattern.length() > MAX_PATTERN) {
            throw wrong(field, "a pattern of " + pattern.length() + " characters",
                    "at most " + MAX_PATTERN);
        }
        if (repetitions(pattern) > MAX_REPETITIONS) {
            throw wrong(field, "repetitions that are too large", "at most " + MAX_REPETITIONS
                    + ", those of a pattern multiplied");
        }
        try {
            return new Filter(text, isSkipping, Pattern.compile(pattern));
        } catch (PatternSyntaxException e) {
            throw wrong(field, "no pattern: " + e.getDescription(),
                    "a regular expression of RE2, as ^v1\\.");
        }
    }

    private static long repetitions(String pattern) {
        long product = 1;
        Matcher matcher = REPETITION.matcher(pattern);
        while (matcher.find() && product <= MAX_REPETITIONS) {
            String most = matcher.group(2) == null ? matcher.group(1) : matcher.group(2);
            product *= most == null ? 1 : Math.max(1, Long.parseLong(most));
        }
        return product;
    }

    private static IllegalArgumentException wrong(String field, String what, String expected) {
        return new IllegalArgumentException(
                "filters." + field + ": " + what + " (expected: " + expected + ")");
    }

    /** Reads what {@link #json} wrote. */
    static Filters parse(String json) {
        return of(texts(json));
    }

    /** The texts that {@link #json} wrote. */
    static Map<String, String> texts(String json) {
        try {
            return JSON.readValue(json, TEXTS);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the filters of a trigger are no JSON", e);
        }
    }

    /** Its texts, as JSON. */
    String json() {
        Map<String, String> texts = new TreeMap<>();
        byField.forEach((field, filter) -> texts.put(field, filter.text));
        try {
            return JSON.writeValueAsString(texts);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("texts always render", e);
        }
    }

    /** Why what has these fields is refused; null: it is not. */
    @Nullable
    String refusal(Map<String, String> fields) {
        if ("true".equals(fields.get(FORK)) && !byField.containsKey(FORK)) {
            return "it comes from a fork (expected: the filter fork: true, for a pipeline that may have it)";
        }
        for (Map.Entry<String, Filter> each : byField.entrySet()) {
            Filter filter = each.getValue();
            String value = fields.getOrDefault(each.getKey(), "");
            if (value.isEmpty()) {
                continue;
            }
            if (value.length() > MAX_INPUT) {
                return "filter " + each.getKey() + ": the value has " + value.length()
                        + " characters (expected: at most " + MAX_INPUT + ")";
            }
            boolean isFound = filter.pattern.matcher(value).find();
            if (isFound == filter.isSkipping) {
                return "filter " + each.getKey() + ": " + shown(value)
                        + (filter.isSkipping ? " matches " : " does not match ") + filter.text;
            }
        }
        return null;
    }

    private static String shown(String value) {
        return '"' + (value.length() > 80 ? value.substring(0, 80) + "…" : value) + '"';
    }
}
