package dev.culvert.handlers.rest;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A path with names in braces for the segments that vary, as {@code /api/v1/tunnels/{id}}. */
public final class PathTemplate {
    private final String text;
    private final List<String> segments;

    public PathTemplate(String text) {
        this.text = text;
        this.segments = List.of(text.split("/", -1));
    }

    /** The varying segments of {@code path} by name, as received; null when the path does not match. */
    public @Nullable Map<String, String> match(String path) {
        String[] given = path.split("/", -1);
        if (given.length != segments.size()) {
            return null;
        }
        Map<String, String> varying = new HashMap<>();
        for (int i = 0; i < given.length; i++) {
            String segment = segments.get(i);
            if (segment.startsWith("{")) {
                varying.put(segment.substring(1, segment.length() - 1), given[i]);
            } else if (!segment.equals(given[i])) {
                return null;
            }
        }
        return varying;
    }

    @Override
    public String toString() {
        return text;
    }
}
