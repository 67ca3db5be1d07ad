package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The event sources that webhooks may reach. An empty list allows none. Immutable, safe for use by any
 * thread.
 */
public final class AllowList {
    private static final Pattern ENTRY = Pattern.compile("[a-z0-9*-]{1,63}/[a-z0-9*-]{1,63}");

    /** The maximum number of entries: a webhook is compared with each. */
    private static final int MAX_ENTRIES = 1000;

    private final List<Entry> entries;
    /** The entries without a star. */
    private final Set<Entry> names;

    private AllowList(List<Entry> entries) {
        this.entries = entries;
        this.names = entries.stream().filter(Entry::isName).collect(Collectors.toUnmodifiableSet());
    }

    /** Parses {@code namespace/eventSource} entries. Throws ConfigException for the key {@code allow}. */
    public static AllowList parse(List<String> entries) {
        if (entries.size() > MAX_ENTRIES) {
            throw new ConfigException("allow", "at most " + MAX_ENTRIES + " entries; * matches any text");
        }
        return new AllowList(entries.stream().map(AllowList::entry).toList());
    }

    /** Whether a webhook may reach the event source; both are DNS labels. */
    public boolean allows(String namespace, String eventSource) {
        for (Entry entry : entries) {
            if (matches(entry.namespace, namespace) && matches(entry.eventSource, eventSource)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the list names the event source itself, without a star. */
    public boolean names(String namespace, String eventSource) {
        return !names.isEmpty() && names.contains(new Entry(namespace, eventSource));
    }

    private static Entry entry(String text) {
        if (!ENTRY.matcher(text).matches()) {
            throw new ConfigException("allow",
                    "namespace/eventSource in lower case, each with * for any text, as argo/*");
        }
        int slash = text.indexOf('/');
        return new Entry(text.substring(0, slash), text.substring(slash + 1));
    }

    /**
     * Matches a pattern with stars. Linear in practice: on a mismatch only the last star is retried, with one
     * character more.
     */
    private static boolean matches(String pattern, String text) {
        int star = -1;
        int retry = 0;
        int p = 0;
        int t = 0;
        while (t < text.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                retry = t;
            } else if (p < pattern.length() && pattern.charAt(p) == text.charAt(t)) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++retry;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }

    private record Entry(String namespace, String eventSource) {
        boolean isName() {
            return namespace.indexOf('*') < 0 && eventSource.indexOf('*') < 0;
        }
    }
}
