package dev.culvert.client.dial;

import dev.culvert.config.ConfigException;
import dev.culvert.http.net.Cidr;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The servers that are reached without a proxy, in the notation of {@code NO_PROXY}. {@code example.com}
 * matches that name and all names below it; {@code .example.com} and {@code *.example.com} match only names
 * below it. Addresses and blocks match servers given as an address, {@code host:port} only that port, and
 * {@code *} all servers. Names are not resolved.
 */
public final class NoProxy {
    /**
     * The maximum number of entries. A longer list is a configuration error or an attack through the
     * environment.
     */
    private static final int MAX_ENTRIES = 1000;

    private final List<Entry> entries;

    private sealed interface Entry {
        record Everything() implements Entry {}

        /** @param itself whether the name itself matches too, not only names below it */
        record Name(String name, boolean itself, int port) implements Entry {}

        record Block(Cidr block, int port) implements Entry {}
    }

    private NoProxy(List<Entry> entries) {
        this.entries = entries;
    }

    /** Parses a list. Throws ConfigException for {@code key} if an entry is invalid. */
    static NoProxy of(String key, List<String> texts) {
        if (texts.size() > MAX_ENTRIES) {
            throw new ConfigException(key, "at most " + MAX_ENTRIES + " entries");
        }
        List<Entry> entries = new ArrayList<>();
        for (String text : texts) {
            String entry = text.strip().toLowerCase(Locale.ROOT);
            if (!entry.isEmpty()) {
                entries.add(entry(key, entry));
            }
        }
        return new NoProxy(List.copyOf(entries));
    }

    /**
     * Parses an environment variable with entries separated by commas or white space. Invalid entries are
     * ignored.
     */
    static NoProxy lenient(String variable) {
        List<Entry> entries = new ArrayList<>();
        for (String text : variable.toLowerCase(Locale.ROOT).split("[,\\s]+", MAX_ENTRIES)) {
            if (!text.isEmpty()) {
                try {
                    entries.add(entry("NO_PROXY", text));
                } catch (ConfigException e) {
                    // Other programs share the variable, and some support further forms.
                }
            }
        }
        return new NoProxy(List.copyOf(entries));
    }

    /** Whether {@code host} (IPv6 without brackets) is reached directly. */
    boolean covers(String host, int port) {
        String name = host.toLowerCase(Locale.ROOT);
        InetAddress address = literal(name);
        for (Entry entry : entries) {
            boolean covered = switch (entry) {
                case Entry.Everything all -> true;
                case Entry.Block block -> address != null && portFits(block.port(), port)
                        && block.block().contains(address);
                case Entry.Name named -> address == null && portFits(named.port(), port)
                        && (named.itself() && name.equals(named.name()) || name.endsWith("." + named.name()));
            };
            if (covered) {
                return true;
            }
        }
        return false;
    }

    /** Parses an address literal; null for a name. Does not use DNS. */
    public static @Nullable InetAddress literal(String host) {
        return NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)
                ? InetAddress.ofLiteral(host)
                : null;
    }

    private static boolean portFits(int wanted, int port) {
        return wanted == 0 || wanted == port;
    }

    private static Entry entry(String key, String text) {
        if (text.equals("*")) {
            return new Entry.Everything();
        }
        int colon = text.lastIndexOf(':');
        boolean bracketed = text.startsWith("[");
        boolean port = bracketed ? text.contains("]:") : colon >= 0 && text.indexOf(':') == colon;
        String host = port ? text.substring(0, colon) : text;
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        int number = port ? port(key, text, text.substring(colon + 1)) : 0;
        if (host.indexOf('/') >= 0 || literal(host) != null) {
            return new Entry.Block(block(key, host), number);
        }
        boolean below = host.startsWith(".") || host.startsWith("*.");
        String name = below ? host.substring(host.indexOf('.') + 1) : host;
        if (name.isEmpty() || name.contains("*") || name.contains(":")) {
            throw wrong(key, text);
        }
        return new Entry.Name(name, !below, number);
    }

    private static Cidr block(String key, String text) {
        try {
            return Cidr.parse(text);
        } catch (IllegalArgumentException e) {
            throw wrong(key, text);
        }
    }

    private static int port(String key, String text, String digits) {
        if (!digits.matches("\\d{1,5}") || Integer.parseInt(digits) > 65535) {
            throw wrong(key, text);
        }
        return Integer.parseInt(digits);
    }

    private static ConfigException wrong(String key, String text) {
        return new ConfigException(key,
                "names, .names, addresses or blocks, each with a port if wanted, or *; not \"" + text + "\"");
    }
}
