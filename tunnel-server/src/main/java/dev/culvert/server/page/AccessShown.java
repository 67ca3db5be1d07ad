package dev.culvert.server.page;

import dev.culvert.http.net.Cidr;
import dev.culvert.server.access.AccessDefault;
import dev.culvert.server.access.AccessPreview;
import dev.culvert.server.access.AccessRule;
import dev.culvert.server.access.AccessRules;
import dev.culvert.server.access.Requirement;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The access rules of a runtime, and whether one request would be allowed.
 *
 * @param addresses the addresses from which the whole runtime may be called, or empty
 * @param rules its rules
 * @param open whether the runtime is open without rules
 * @param path the path that was asked about
 * @param address the address that was asked about
 * @param answer whether it would be allowed; null: nothing was asked
 * @param problem what is wrong with the question, or empty
 */
public record AccessShown(String addresses, List<Rule> rules, boolean open, String path, String address,
        @Nullable AccessPreview answer, String problem) {
    private static final int MAX_TEXT = 2048;

    /** One rule, in words. */
    public record Rule(String path, String require, String detail, String addresses) {}

    static AccessShown of(AccessRules rules, AccessDefault withoutRules, String path, String address) {
        String asked = path.length() > MAX_TEXT ? path.substring(0, MAX_TEXT) : path;
        AccessPreview answer = null;
        String problem = "";
        if (!asked.isEmpty()) {
            try {
                if (!asked.startsWith("/")) {
                    throw new IllegalArgumentException("A path begins with a slash, as /api/.");
                }
                answer = AccessPreview.of(rules, withoutRules, asked,
                        address.isBlank() ? null : literal(address.strip()));
            } catch (IllegalArgumentException e) {
                problem = String.valueOf(e.getMessage());
            }
        }
        return new AccessShown(words(rules.addresses()),
                rules.rules().stream().map(AccessShown::rule).toList(),
                withoutRules == AccessDefault.OPEN, asked, address, answer, problem);
    }

    private static InetAddress literal(String address) {
        try {
            return InetAddress.ofLiteral(address);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("This is no address (expected: as 192.0.2.7 or 2001:db8::1).",
                    e);
        }
    }

    private static Rule rule(AccessRule rule) {
        return new Rule(rule.path(), rule.require().word(), switch (rule.require()) {
            case Requirement.None none -> "everybody";
            case Requirement.Deny deny -> "nobody";
            case Requirement.Jwt jwt -> "a token of " + jwt.issuer() + " for "
                    + String.join(", ", jwt.audiences());
            case Requirement.ForwardAuth service -> "permission of " + service.url();
            case Requirement.ClientCertificate certificate -> certificate.subjects().isEmpty()
                    ? "a client certificate"
                    : "a client certificate of " + String.join("; ", certificate.subjects());
        }, words(rule.addresses()));
    }

    private static String words(List<Cidr> blocks) {
        return blocks.stream().map(Cidr::toString).collect(Collectors.joining(", "));
    }
}
