package dev.culvert.relay.route;

import dev.culvert.http.path.DnsLabel;
import dev.culvert.http.path.HostTemplate;
import dev.culvert.http.path.PathPattern;
import dev.culvert.http.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the variables of a route's path and checks their values. Values used in the upstream's host must
 * be DNS labels; {@code {namespace}} and {@code {eventSource}} must also be on the allow-list of webhooks.
 * Immutable.
 */
public final class PathVariables {
    private static final List<String> NOT_IN_A_SEGMENT = List.of("%2f", "%3f", "%23", "%3a");

    private final PathPattern path;
    private final HostTemplate host;
    private final List<String> variables;

    private PathVariables(PathPattern path, HostTemplate host) {
        this.path = path;
        this.host = host;
        this.variables = path.variables();
    }

    /** Creates the variables of a route. The path must contain all variables of the host. */
    public static PathVariables of(PathPattern path, HostTemplate host) {
        return new PathVariables(path, host);
    }

    /** Whether the path has no variables, so that nothing needs to be resolved. */
    public boolean isEmpty() {
        return variables.isEmpty();
    }

    /**
     * Resolves a path that the pattern matched and that {@link dev.culvert.http.path.RawPath#wellFormed}
     * accepted.
     */
    public Resolved resolve(String rawPath, AllowList webhooks) {
        List<String> values = new ArrayList<>(variables.size());
        for (String variable : variables) {
            String raw = Objects.requireNonNull(path.value(rawPath, variable));
            String value = isLabel(variable) ? DnsLabel.decode(raw) : segment(raw);
            if (value == null) {
                return new Resolved.Refused(
                        isLabel(variable) ? RouteProblem.NOT_A_LABEL : RouteProblem.NOT_A_SEGMENT);
            }
            values.add(value);
        }
        String filled = host.fill(host.variables().stream().map(name -> value(values, name)).toList());
        if (!DnsLabel.fit(filled)) {
            return new Resolved.Refused(RouteProblem.NOT_A_LABEL);
        }
        boolean allowed = !path.isOfWebhooks()
                || webhooks.allows(value(values, PathPattern.NAMESPACE),
                        value(values, PathPattern.EVENT_SOURCE));
        return allowed
                ? new Resolved.Values(List.copyOf(values), filled)
                : new Resolved.Refused(RouteProblem.EVENT_SOURCE);
    }

    /**
     * Whether the configuration names the event source of these values, so that callers cannot invent others.
     */
    boolean isNamed(List<String> values, AllowList webhooks) {
        return values.isEmpty() || values.size() == 2 && path.isOfWebhooks()
                && webhooks.names(value(values, PathPattern.NAMESPACE),
                        value(values, PathPattern.EVENT_SOURCE));
    }

    private String value(List<String> values, String variable) {
        return values.get(variables.indexOf(variable));
    }

    private boolean isLabel(String variable) {
        return variable.equals(PathPattern.NAMESPACE) || variable.equals(PathPattern.EVENT_SOURCE)
                || host.variables().contains(variable);
    }

    private static @Nullable String segment(String raw) {
        if (raw.indexOf('%') >= 0) {
            String lower = raw.toLowerCase(Locale.ROOT);
            if (NOT_IN_A_SEGMENT.stream().anyMatch(lower::contains)) {
                return null;
            }
        }
        return raw.isEmpty() ? null : raw;
    }

    /** The result of resolving a path. */
    public sealed interface Resolved {
        /**
         * The values are allowed.
         *
         * @param values the values, in the order of the path
         * @param host the upstream's host
         */
        record Values(List<String> values, String host) implements Resolved {}

        /** The values are not allowed. */
        record Refused(Problem problem) implements Resolved {}
    }
}
