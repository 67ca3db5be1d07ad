package dev.culvert.appproxy.repositories;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.regex.Pattern;

/** Checks names of repositories: a valid name can't leave a folder or add parts to a URL. */
final class RepositoryName {
    private static final Pattern NAME = Pattern.compile("~?[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,10}");
    private static final int MAX = 512;

    private RepositoryName() {}

    /** Returns the name. Throws HandlerException BAD_REQUEST for an invalid name. */
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
