package dev.culvert.server.access;

import dev.culvert.http.net.Cidr;
import java.util.List;

/**
 * Who may call one path, and what is below it.
 *
 * @param path as {@code /admin/}; {@code /} for the whole runtime. With or without the slash at its end it is the same
 * @param require what callers must show
 * @param addresses where they may come from, too; empty: from everywhere
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
