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
 * What the variables of a route's path stand for, and whether they may: those in the upstream's host must be DNS labels,
 * {@code {namespace}} and {@code {eventSource}} also on the allow-list of webhooks. Immutable.
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

    /** Of a route. All variables of the host stand in the path. */
    public static PathVariables of(PathPattern path, HostTemplate host) {
        return new PathVariables(path, host);
    }

    /** Whether there are none: then there is nothing to resolve. */
    public boolean isEmpty() {
        return variables.isEmpty();
    }

    /** Looks at a path that the pattern matched and that {@link dev.culvert.http.path.RawPath#wellFormed} accepted. */
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

    /** Whether the configuration names what the values stand for: callers can't invent others. */
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

    /** What became of it. */
    public sealed interface Resolved {
        /**
         * They may stand there.
         *
         * @param values in the order of the path
         * @param host of the upstream
         */
        record Values(List<String> values, String host) implements Resolved {}

        /** They may not. */
        record Refused(Problem problem) implements Resolved {}
    }
}
