package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The REST API of one kind of provider. */
public sealed interface ProviderStandIn
        permits GithubApi, GitlabApi, BitbucketApi, BitbucketServerApi, GiteaApi {
    /** The path below which the API is: {@code /api/v3}. */
    String root();

    /** What stands before {@code /owner/name.git} in URLs for Git: nothing, or {@code /scm}. */
    default String gitPrefix() {
        return "";
    }

    /** The token that a call carries, or null. */
    @Nullable
    String token(Headers fields);

    /** Answers a call of somebody that is known. */
    ProviderAnswer answer(ApiCall call) throws IOException;

    /** An error as this provider words it. */
    ProviderAnswer error(int status, String message);

    /** What a caller is told that asks too often. */
    ProviderAnswer limited(Duration wait);

    /** Whether lists carry an {@code ETag} and {@code If-None-Match} is understood. */
    boolean hasValidators();
}
