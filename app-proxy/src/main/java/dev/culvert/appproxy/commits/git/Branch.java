package dev.culvert.appproxy.commits.git;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.Repository;

/**
 * A valid branch name, without {@code refs/heads/}.
 *
 * @param name as {@code main} or {@code team/feature}
 */
public record Branch(String name) {
    private static final int MAX_LENGTH = 200;

    public Branch {
        if (name.length() > MAX_LENGTH || name.startsWith("-") || name.equals(Constants.HEAD)
                || name.startsWith(Constants.R_REFS)
                || !Repository.isValidRefName(Constants.R_HEADS + name)) {
            throw HandlerException.of(Reason.BAD_REQUEST, "not a branch's name (expected: as main, without "
                    + "refs/heads/, at most " + MAX_LENGTH + " characters)");
        }
    }

    /** The full name of the ref. */
    String ref() {
        return Constants.R_HEADS + name;
    }

    @Override
    public String toString() {
        return name;
    }
}
