package dev.culvert.appproxy.repositories;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.regex.Pattern;

/** Names of repositories: what can't climb out of a folder or add to a URL. */
final class RepositoryName {
    private static final Pattern NAME = Pattern.compile("~?[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,10}");
    private static final int MAX = 512;

    private RepositoryName() {}

    /** The name as it is. Throws HandlerException BAD_REQUEST for what is none. */
    static String checked(String name) {
        if (!fits(name)) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "the repository's name is none (expected: owner/name, of letters, digits and ._-)");
        }
        return name;
    }

    static boolean fits(String name) {
        return name.length() <= MAX && NAME.matcher(name).matches() && !name.endsWith(".git")
                && !("/" + name + "/").contains("/./") && !("/" + name + "/").contains("/../");
    }
}
