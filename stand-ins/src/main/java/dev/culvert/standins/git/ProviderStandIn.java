package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The REST API of one kind of provider. */
public sealed interface ProviderStandIn
        permits GithubApi, GitlabApi, BitbucketApi, BitbucketServerApi, GiteaApi {
    /** The root path of the API: {@code /api/v3}. */
    String root();

    /** The prefix of {@code /owner/name.git} in URLs for Git: empty or {@code /scm}. */
    default String gitPrefix() {
        return "";
    }

    /** The token of a call, or null. */
    @Nullable
    String token(Headers fields);

    /** Answers an authenticated call. */
    ProviderAnswer answer(ApiCall call) throws IOException;

    /** An error in this provider's form. */
    ProviderAnswer error(int status, String message);

    /** The response to a caller that exceeds the rate limit. */
    default ProviderAnswer limited(Duration wait) {
        return error(429, "Too many requests").with("Retry-After", String.valueOf(wait.toSeconds()));
    }

    /** Whether lists have an {@code ETag} and {@code If-None-Match} is supported. */
    default boolean hasValidators() {
        return true;
    }
}
