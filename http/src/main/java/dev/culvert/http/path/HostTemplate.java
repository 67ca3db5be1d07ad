package dev.culvert.http.path;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The host of an upstream, which may contain variables of a path: {@code
 * {eventSource}-eventsource-svc.{namespace}.svc}. Immutable.
 */
public final class HostTemplate {
    private static final Pattern VARIABLE = Pattern.compile("\\{([a-zA-Z][a-zA-Z0-9]{0,31})}");
    private static final Pattern OWN_LETTER = Pattern.compile("[a-z0-9_]");

    private final String text;
    private final List<String> variables;

    private HostTemplate(String text) {
        this.text = text;
        this.variables = VARIABLE.matcher(text).results().map(found -> found.group(1)).distinct().toList();
    }

    /**
     * Parses a host and converts its literal parts to lower case. The caller has checked their characters.
     */
    public static HostTemplate of(String host) {
        Matcher found = VARIABLE.matcher(host);
        StringBuilder lower = new StringBuilder();
        int from = 0;
        while (found.find()) {
            lower.append(host.substring(from, found.start()).toLowerCase(Locale.ROOT)).append(found.group());
            from = found.end();
        }
        return new HostTemplate(lower.append(host.substring(from).toLowerCase(Locale.ROOT)).toString());
    }

    /** The names of its variables. */
    public List<String> variables() {
        return variables;
    }

    /**
     * Substitutes the values, which are in the order of {@link #variables}. The labels of the result may be
     * too long: see {@link DnsLabel#fit}.
     */
    public String fill(List<String> values) {
        String filled = text;
        for (int i = 0; i < values.size(); i++) {
            filled = filled.replace("{" + variables.get(i) + "}", values.get(i));
        }
        return filled;
    }

    /**
     * The same template with its literal parts masked: lengths and variables stay. It may be shown outside
     * the cluster.
     */
    public HostTemplate masked() {
        StringBuilder masked = new StringBuilder();
        Matcher found = VARIABLE.matcher(text);
        int from = 0;
        while (found.find()) {
            masked.append(mask(text.substring(from, found.start()))).append(found.group());
            from = found.end();
        }
        return new HostTemplate(masked.append(mask(text.substring(from))).toString());
    }

    private static String mask(String part) {
        return OWN_LETTER.matcher(part).replaceAll("x");
    }

    @Override
    public String toString() {
        return text;
    }
}
