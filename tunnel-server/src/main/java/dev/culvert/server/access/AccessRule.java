package dev.culvert.server.access;

import dev.culvert.http.net.Cidr;
import java.util.List;

/**
 * The access rule of one path and the paths below it.
 *
 * @param path the path, as {@code /admin/}; {@code /} for the whole runtime. A slash at the end makes no
 *        difference
 * @param require the requirement for callers
 * @param addresses the blocks that callers must also be in; empty: any address
 */
public record AccessRule(String path, Requirement require, List<Cidr> addresses) {
    public AccessRule {
        addresses = List.copyOf(addresses);
        RulePath.of(path);
    }

    RulePath segments() {
        return RulePath.of(path);
    }
}
