package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.PathPattern;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requests a route takes. Immutable.
 *
 * @param path the beginning of the path
 * @param host the host in lower case, without port: a name, {@code *.name} for any name below it, or an
 *     address literal; null: any
 * @param methods the methods, of which the request must have one; empty: any
 * @param fields the conditions on header fields, all of which must hold
 */
public record RouteRule(PathPattern path, @Nullable String host, List<String> methods,
        List<FieldRule> fields) {

    private static final Pattern HOST = Pattern
            .compile("(\\*\\.)?[a-z0-9_-]{1,63}(\\.[a-z0-9_-]{1,63})*|\\[[0-9a-f:.]{2,45}]");
    private static final Pattern METHOD = Pattern.compile("[A-Z][A-Z0-9_-]{0,31}");
    private static final int MAX_HOST = 253;
    private static final int MAX_CONDITIONS = 16;

    public RouteRule {
        methods = methods.stream().distinct().toList();
        fields = List.copyOf(fields);
        if (host != null && (host.length() > MAX_HOST || !HOST.matcher(host).matches())) {
            throw new ConfigException("host", "a name without port as app.example.com, or *.example.com");
        }
        if (methods.size() > MAX_CONDITIONS
                || !methods.stream().allMatch(method -> METHOD.matcher(method).matches())) {
            throw new ConfigException("methods",
                    "at most " + MAX_CONDITIONS + " methods in upper case, as GET");
        }
        if (fields.size() > MAX_CONDITIONS) {
            throw new ConfigException("headers", "at most " + MAX_CONDITIONS + " header fields");
        }
    }

    /**
     * Parses the configured conditions of a route.
     *
     * @param fields the values by field name, {@code *} for any value
     */
    public static RouteRule of(String path, @Nullable String host, List<String> methods,
            Map<String, String> fields) {
        return new RouteRule(PathPattern.parse(path), host == null ? null : host.toLowerCase(Locale.ROOT),
                methods, fields.entrySet()
                        .stream()
                        .map(field -> FieldRule.of(field.getKey(), field.getValue()))
                        .sorted((left, right) -> left.name().compareTo(right.name()))
                        .toList());
    }

    /** Creates a rule with a path as its only condition. */
    public static RouteRule of(String path) {
        return new RouteRule(PathPattern.parse(path), null, List.of(), List.of());
    }

    /** Returns the reason for which the rule does not take a request, or null if it does. */
    public @Nullable String mismatch(RouteQuery query) {
        if (path.match(query.path()) < 0) {
            return "the path is not below " + path;
        } else if (!takesHost(query.host())) {
            return "the host is not " + host;
        } else if (!takesMethod(query.method())) {
            return "the method is none of " + String.join(", ", methods);
        }
        return fields.stream()
                .filter(field -> !field.matches(query.fields()))
                .map(field -> "there is no field " + field)
                .findFirst()
                .orElse(null);
    }

    private boolean takesHost(String asked) {
        if (host == null) {
            return true;
        }
        return host.startsWith("*.")
                ? asked.length() > host.length() - 1 && asked.endsWith(host.substring(1))
                : asked.equals(host);
    }

    private boolean takesMethod(String method) {
        return methods.isEmpty() || methods.contains(method);
    }

    /** Whether the rule takes a request whose path and host match. */
    boolean takes(RouteQuery query) {
        if (!takesMethod(query.method())) {
            return false;
        }
        for (FieldRule field : fields) {
            if (!field.matches(query.fields())) {
                return false;
            }
        }
        return true;
    }

    /** Whether the rule takes every request that {@code other} takes. Both have the same path and host. */
    boolean coversConditionsOf(RouteRule other) {
        boolean allMethods = methods.isEmpty()
                || (!other.methods.isEmpty() && methods.containsAll(other.methods));
        return allMethods && fields.stream()
                .allMatch(field -> other.fields.contains(field) || (field.value() == null
                        && other.fields.stream().anyMatch(theirs -> theirs.name().equals(field.name()))));
    }
}
