package dev.culvert.appproxy.commits.git;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.regex.Pattern;
import org.eclipse.jgit.errors.NoRemoteRepositoryException;
import org.eclipse.jgit.errors.TransportException;
import org.eclipse.jgit.internal.JGitText;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps failures of Git and its transport to errors for callers. The errors contain no hosts and folders. */
public final class GitFailure {
    private static final Logger LOG = LoggerFactory.getLogger(GitFailure.class);
    /**
     * Matches "lock" as a whole word only: a push that a provider blocked, or a branch that it keeps locked,
     * is refused for good.
     */
    private static final Pattern LOCK = Pattern.compile("\\block\\b", Pattern.CASE_INSENSITIVE);
    private static final Duration RETRY = Duration.ofSeconds(2);

    private GitFailure() {}

    /** The error for the caller. Failures that the provider did not report are logged. */
    public static HandlerException of(Throwable error, String repository) {
        if (error instanceof HandlerException told) {
            return told;
        }
        if (error instanceof RejectedExecutionException) {
            return HandlerException.of(Reason.OVERLOADED, "too many concurrent commits")
                    .retryAfter(RETRY);
        }
        if (error instanceof TransportException transport) {
            return ofTransport(transport, repository);
        }
        LOG.atWarn()
                .addKeyValue("repository", repository)
                .addKeyValue("error", error.toString())
                .log("a repository could not be read or written");
        return error instanceof IOException
                ? HandlerException.of(Reason.UNAVAILABLE, repository + " could not be read or written")
                : HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE,
                        "the Git provider's response is invalid");
    }

    /**
     * Whether a push was refused because another push held the branch's lock, as in {@code cannot lock ref}.
     */
    static boolean ofLock(@Nullable String refusal) {
        return refusal != null && LOCK.matcher(refusal).find();
    }

    private static HandlerException ofTransport(TransportException error, String repository) {
        String message = String.valueOf(error.getMessage());
        if (error instanceof NoRemoteRepositoryException) {
            return HandlerException.of(Reason.NOT_FOUND,
                    "no such repository, or it is hidden from the token: " + repository);
        }
        if (message.contains(JGitText.get().notAuthorized)
                || message.contains(JGitText.get().noCredentialsProvider) || message.contains(": 403 ")
                || message.contains(JGitText.get().authenticationNotSupported)
                || message.contains("not permitted")) {
            return HandlerException.of(Reason.FORBIDDEN,
                    "the Git provider refuses the user's Git token for " + repository);
        }
        LOG.atWarn()
                .addKeyValue("repository", repository)
                .addKeyValue("error", message)
                .log("the Git provider could not be used");
        return caused(error)
                ? HandlerException.of(Reason.UPSTREAM_TIMEOUT, "the Git provider did not answer in time")
                : HandlerException.of(Reason.UNAVAILABLE, "the Git provider can't be reached")
                        .retryAfter(RETRY);
    }

    private static boolean caused(@Nullable Throwable error) {
        return error != null && (error instanceof SocketTimeoutException || caused(error.getCause()));
    }
}
