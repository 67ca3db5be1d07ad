package dev.culvert.relay.testing;

import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A request as an upstream sees it, but for what every gateway writes itself. Not safe for use by several threads.
 */
public final class SeenRequest {
    /** What the gateway adds, or frames the message with; each is checked on its own. */
    private static final Set<String> GATEWAYS = Set.of("host", "via", "forwarded", "x-forwarded-for",
            "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port", "x-request-id", "traceparent",
            "content-length", "transfer-encoding");

    private final String line;
    private final TreeSet<String> fields = new TreeSet<>();
    private final TreeSet<String> trailers = new TreeSet<>();
    private final TreeMap<String, String> own = new TreeMap<>();
    private String body = "";

    private SeenRequest(String line) {
        this.line = line;
    }

    /** A request line without its version. */
    public static SeenRequest of(String line) {
        return new SeenRequest(line);
    }

    /** A field as {@code name: value}, the name in lower case. */
    public void field(String field) {
        int colon = field.indexOf(": ");
        String name = field.substring(0, colon);
        if (!GATEWAYS.contains(name)) {
            fields.add(count(fields, field));
        } else if (own.put(name, field.substring(colon + 2)) != null) {
            fields.add("twice: " + field);
        }
    }

    private static String count(Set<String> seen, String field) {
        return seen.contains(field) ? field + " (again)" : field;
    }

    public void body(String text) {
        body = text;
    }

    /** A trailer as {@code name: value}. */
    public void trailer(String trailer) {
        trailers.add(count(trailers, trailer));
    }

    public String body() {
        return body;
    }

    /** The value of a field that the gateway writes; empty without. */
    public String own(String name) {
        return own.getOrDefault(name, "");
    }

    /** Everything but what gateways write, sorted. */
    @Override
    public String toString() {
        return line + "\n" + String.join("\n", fields) + "\n\n" + body + "\n" + String.join("\n", trailers);
    }
}
