package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The source of an Application's manifests, written {@code <repository>.git[/path][?ref=branch]}.
 *
 * @param repository the clone URL, with {@code .git}
 * @param path the folder; {@code .} is the root
 * @param branch null: the repository's default
 */
record SourceSpecifier(String repository, String path, @Nullable Branch branch) {
    private static final Pattern TEXT = Pattern
            .compile(
                    "((?:https?://|ssh://|file:/{1,3})[^\\s?#@]{1,1000}?\\.git)(?:/([^?\\s]*))?(?:\\?ref=([^&\\s]+))?");

    /** Errors: HandlerException BAD_REQUEST. */
    static SourceSpecifier of(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "appSpecifier is not understood (expected: <clone URL>.git[/path][?ref=branch], no user or token in it)");
        }
        String path = matcher.group(2);
        String branch = matcher.group(3);
        return new SourceSpecifier(matcher.group(1),
                path == null || path.isEmpty() ? "." : new FilePath(path).text(),
                branch == null ? null : new Branch(branch));
    }
}
