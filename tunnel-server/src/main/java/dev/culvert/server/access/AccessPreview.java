package dev.culvert.server.access;

import dev.culvert.server.access.RuntimeAdmission.Choice;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Whether a request would be admitted, as far as it can be told without the caller's credentials.
 *
 * @param decision the answer
 * @param why the reason, in words
 * @param rule the path of the rule that applies; empty: none
 */
public record AccessPreview(Decision decision, String why, String rule) {
    /** The answer. */
    public enum Decision {
        ALLOWED, REFUSED,
        /** The caller's credentials decide. */
        DEPENDS
    }

    /**
     * Judges a request as {@link AccessControl} does.
     *
     * @param path the path, with or without a query
     * @param address the caller's; null: one that no rule names
     */
    public static AccessPreview of(AccessRules rules, AccessDefault withoutRules, String path,
            @Nullable InetAddress address) {
        if (rules.isEmpty()) {
            return withoutRules == AccessDefault.OPEN
                    ? new AccessPreview(Decision.ALLOWED,
                            "there are no rules, and edge.access.default is open",
                            "")
                    : new AccessPreview(Decision.REFUSED, RuntimeAdmission.WITHOUT_RULES, "");
        }
        return switch (RuntimeAdmission.choose(rules, RuntimeAdmission.choices(rules), path, address)) {
            case Choice.Refused refused -> new AccessPreview(Decision.REFUSED, refused.detail(), "");
            case Choice.Open open ->
                new AccessPreview(Decision.ALLOWED, "the address may call every path", "");
            case Choice.Applies applies -> byRule(applies.rule());
        };
    }

    private static AccessPreview byRule(AccessRule rule) {
        return switch (rule.require()) {
            case Requirement.None none ->
                new AccessPreview(Decision.ALLOWED, "the rule asks for nothing", rule.path());
            case Requirement.Deny deny ->
                new AccessPreview(Decision.REFUSED, "the rule closes the path", rule.path());
            case Requirement.Jwt jwt -> new AccessPreview(Decision.DEPENDS,
                    "the caller needs a valid token of " + jwt.issuer(), rule.path());
            case Requirement.ForwardAuth service -> new AccessPreview(Decision.DEPENDS,
                    service.url() + " decides", rule.path());
            case Requirement.ClientCertificate certificate -> new AccessPreview(Decision.DEPENDS,
                    "the caller needs a client certificate of the rule's authority", rule.path());
        };
    }
}
