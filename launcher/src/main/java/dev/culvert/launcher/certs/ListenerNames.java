package dev.culvert.launcher.certs;

import dev.culvert.certs.CertsException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The names and addresses of a listener.
 *
 * @param dns DNS names in lower case, which may begin with {@code *.}
 * @param addresses IP addresses that clients connect to without a name
 */
public record ListenerNames(List<String> dns, List<InetAddress> addresses) {
    /** The maximum number of names, more than any listener has. Every handshake sends all of them. */
    private static final int MAX = 100;
    private static final Pattern IPV4 = Pattern.compile("[0-9.]+");
    private static final Pattern DNS = Pattern
            .compile("(\\*\\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*");

    public ListenerNames {
        dns = List.copyOf(dns);
        addresses = List.copyOf(addresses);
    }

    /**
     * Separates DNS names from addresses and removes duplicates. Throws {@link CertsException} for other
     * texts.
     */
    public static ListenerNames of(List<String> texts) {
        List<String> dns = new ArrayList<>();
        List<InetAddress> addresses = new ArrayList<>();
        if (texts.size() > MAX) {
            throw new CertsException(texts.size() + " names (expected: at most " + MAX + ")");
        }
        for (String text : texts) {
            String name = text.toLowerCase(Locale.ROOT);
            if (name.contains(":") || IPV4.matcher(name).matches()) {
                addresses.add(address(text));
            } else if (name.length() <= 253 && DNS.matcher(name).matches()) {
                dns.add(name);
            } else {
                throw unfit(text);
            }
        }
        return new ListenerNames(dns.stream().distinct().toList(), addresses.stream().distinct().toList());
    }

    private static InetAddress address(String text) {
        boolean complete = text.contains(":") || text.chars().filter(c -> c == '.').count() == 3;
        if (!complete || text.contains("%")) {
            throw unfit(text);
        }
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            throw unfit(text);
        }
    }

    private static CertsException unfit(String text) {
        return new CertsException(
                text + ": no name of a listener (expected: as edge.example.com, *.example.com, 10.0.0.5 or ::1)");
    }
}
