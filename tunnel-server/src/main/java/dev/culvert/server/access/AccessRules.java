package dev.culvert.server.access;

import dev.culvert.http.net.Cidr;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The access rules of one runtime. Of several matching rules the one with the longest path applies. If there
 * are rules, paths without a rule are closed.
 *
 * @param addresses the blocks that callers of the whole runtime must be in; empty: any address
 * @param rules the rules, each with another path; none: every path is open
 */
public record AccessRules(List<Cidr> addresses, List<AccessRule> rules) {
    public static final int MAX_RULES = 64;
    public static final int MAX_ADDRESSES = 256;

    /** No rules: the default of the server's configuration applies. */
    public static final AccessRules NONE = new AccessRules(List.of(), List.of());

    /** All calls are refused. */
    public static final AccessRules CLOSED = new AccessRules(List.of(),
            List.of(new AccessRule("/", new Requirement.Deny(), List.of())));

    public AccessRules {
        addresses = List.copyOf(addresses);
        rules = List.copyOf(rules);
        if (rules.size() > MAX_RULES) {
            throw new IllegalArgumentException(
                    "rules: " + rules.size() + " of them (expected: at most " + MAX_RULES + ")");
        }
        requireFew("addresses", addresses);
        Set<RulePath> paths = new HashSet<>();
        for (int i = 0; i < rules.size(); i++) {
            requireFew("rules[" + i + "].addresses", rules.get(i).addresses());
            if (!paths.add(rules.get(i).segments())) {
                throw new IllegalArgumentException("rules[" + i + "].path: " + rules.get(i).path()
                        + " (expected: another path than those of the other rules)");
            }
        }
    }

    private static void requireFew(String key, List<Cidr> blocks) {
        if (blocks.size() > MAX_ADDRESSES) {
            throw new IllegalArgumentException(
                    key + ": " + blocks.size() + " of them (expected: at most " + MAX_ADDRESSES + ")");
        }
    }

    /** Whether there are no rules and no addresses. */
    public boolean isEmpty() {
        return addresses.isEmpty() && rules.isEmpty();
    }

    /** Whether callers are asked for client certificates. */
    public boolean asksForCertificates() {
        return rules.stream().anyMatch(rule -> rule.require() instanceof Requirement.ClientCertificate);
    }

    /** {@code /=jwt /hooks/=none from 10.0.0.0/8}; {@code none} when empty. */
    @Override
    public String toString() {
        String each = rules.stream()
                .map(rule -> rule.path() + "=" + rule.require().word() + from(rule.addresses()))
                .collect(Collectors.joining(" "));
        return isEmpty() ? "none" : (each + from(addresses)).strip();
    }

    private static String from(List<Cidr> blocks) {
        return blocks.isEmpty()
                ? ""
                : " from " + blocks.stream().map(Cidr::toString).collect(Collectors.joining(","));
    }

    static boolean contain(List<Cidr> blocks, InetAddress address) {
        return blocks.stream().anyMatch(block -> block.contains(address));
    }
}
