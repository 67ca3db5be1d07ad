package dev.culvert.platform.signing;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The names of a wanted server certificate, as OpenSSL writes them: {@code DNS:dind,IP:127.0.0.1}.
 *
 * @param dns DNS names, in lower case
 */
record WantedNames(List<String> dns, List<InetAddress> addresses) {
    /** What accounts may ask for that have set nothing. */
    static final List<String> DEFAULT = List.of("dind", "dind.<namespace>", "*.dind.<namespace>",
            "*.dind.<namespace>.svc", "*.dind.<namespace>.svc.cluster.local", "localhost", "127.0.0.1",
            "::1");
    private static final int MAX = 50;
    private static final int MAX_CHARS = 4_096;
    /** Stands for one label in the names that an account may ask for. */
    private static final String ANY_LABEL = "<namespace>";
    private static final String LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
    private static final Pattern DNS_NAME = Pattern.compile("(\\*\\.)?" + LABEL + "(\\." + LABEL + "){0,20}");
    private static final Pattern ALLOWED = Pattern
            .compile("(\\*\\.)?(" + LABEL + "|<namespace>)(\\.(" + LABEL + "|<namespace>)){0,20}");

    WantedNames {
        dns = List.copyOf(dns);
        addresses = List.copyOf(addresses);
    }

    /** Throws HandlerException BAD_REQUEST. */
    static WantedNames parse(String text) {
        if (text.length() > MAX_CHARS) {
            throw wrong(text.length() + " characters", "at most " + MAX_CHARS);
        }
        List<String> dns = new ArrayList<>();
        List<InetAddress> addresses = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.strip().split(":", 2);
            String value = pair.length == 2 ? pair[1].strip().toLowerCase(Locale.ROOT) : "";
            if (pair[0].equalsIgnoreCase("DNS") && DNS_NAME.matcher(value).matches()) {
                dns.add(value);
            } else if (pair[0].equalsIgnoreCase("IP")) {
                addresses.add(address(part.strip(), value));
            } else {
                throw wrong(shown(part.strip()), "DNS:name or IP:address, with commas between them");
            }
        }
        if (dns.size() + addresses.size() > MAX) {
            throw wrong(dns.size() + addresses.size() + " names", "at most " + MAX);
        }
        return new WantedNames(dns, addresses);
    }

    private static InetAddress address(String part, String value) {
        try {
            return InetAddress.ofLiteral(value);
        } catch (IllegalArgumentException e) {
            throw wrong(shown(part), "IP: with an address, as IP:127.0.0.1");
        }
    }

    /** The first name that none of the allowed ones covers; empty: there is none. */
    String foreign(List<String> allowed) {
        return Stream.concat(dns.stream(), addresses.stream().map(InetAddress::getHostAddress))
                .filter(name -> allowed.stream().noneMatch(each -> covers(each, name)))
                .findFirst()
                .orElse("");
    }

    private static boolean covers(String allowed, String name) {
        if (!ALLOWED.matcher(allowed).matches()) { // an address
            return InetAddress.ofLiteral(allowed).getHostAddress().equals(name);
        }
        String[] wanted = name.split("\\.", -1);
        String[] labels = allowed.split("\\.", -1);
        boolean covers = wanted.length == labels.length;
        for (int i = 0; covers && i < labels.length; i++) {
            covers = labels[i].equals(ANY_LABEL) ? !wanted[i].equals("*") : labels[i].equals(wanted[i]);
        }
        return covers;
    }

    /** Throws HandlerException BAD_REQUEST for a list of allowed names that is none. */
    static void requireAllowed(List<String> names) {
        for (String name : names) {
            if (!ALLOWED.matcher(name).matches() && !isAddress(name)) {
                throw HandlerException.of(Reason.BAD_REQUEST,
                        "names: " + shown(name) + " (expected: a DNS name in"
                                + " lower case, as *.dind." + ANY_LABEL + ", or an address)");
            }
        }
    }

    private static boolean isAddress(String name) {
        try {
            InetAddress.ofLiteral(name);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** All names for people. */
    String text() {
        return String.join(",",
                Stream.concat(dns.stream(), addresses.stream().map(InetAddress::getHostAddress))
                        .toList());
    }

    private static String shown(String text) {
        return text.length() > 80 ? text.substring(0, 80) + "…" : text.isEmpty() ? "an empty name" : text;
    }

    private static HandlerException wrong(String what, String expected) {
        return HandlerException.of(Reason.BAD_REQUEST,
                "reqSubjectAltName: " + what + " (expected: " + expected + ")");
    }
}
