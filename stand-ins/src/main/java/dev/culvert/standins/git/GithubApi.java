package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** GitHub's REST API below {@code /api/v3}, as on an Enterprise server. */
public final class GithubApi implements ProviderStandIn {
    private static final int MAX_PAGE = 100;

    @Override
    public String root() {
        return "/api/v3";
    }

    @Override
    public @Nullable String token(Headers fields) {
        return StandInCredentials.authorization(fields, "Bearer", "token");
    }

    @Override
    public ProviderAnswer answer(ApiCall call) throws IOException {
        ProviderAnswer answer = call.is("GET", "user")
                ? ProviderAnswer.of(200, Map.of("login", call.user().login(), "id", 1))
                : call.is("GET", "user", "repos")
                        ? GithubAnswers.list(call, root(), "per_page", MAX_PAGE)
                        : call.is("POST", "user", "repos") ? created(call) : ofRepository(call);
        return answer.with("X-OAuth-Scopes", String.join(", ", call.user().scopes()))
                .with("X-RateLimit-Limit", "5000")
                .with("X-RateLimit-Remaining", "4999")
                .with("X-RateLimit-Reset", String.valueOf(Instant.now().getEpochSecond() + 3600));
    }

    private static ProviderAnswer created(ApiCall call) throws IOException {
        return ProviderAnswer.of(201,
                GithubAnswers.repository(call,
                        call.host().repository(call.user().login() + "/" + call.text("/name"))));
    }

    private ProviderAnswer ofRepository(ApiCall call) throws IOException {
        HostedRepository repository = call.repository("repos");
        if (repository == null) {
            return error(404, "Not Found");
        } else if (call.is("GET", "repos", "*", "*")) {
            return ProviderAnswer.of(200, GithubAnswers.repository(call, repository));
        } else if (!call.user().mayWrite()) {
            return error(403, "Resource not accessible by personal access token");
        } else if (call.is("POST", "repos", "*", "*", "pulls")) {
            return pull(call, repository);
        } else if (call.is("POST", "repos", "*", "*", "hooks")) {
            HostedObject made = call.make("hook", repository);
            return ProviderAnswer.of(201, Map.of("id", made.number(), "type", "Repository", "active", true,
                    "config",
                    Map.of("url", call.text("/config/url"), "content_type", "json", "secret", "********")));
        } else if (call.is("POST", "repos", "*", "*", "statuses", "*")) {
            return status(call, repository);
        }
        return error(404, "Not Found");
    }

    private ProviderAnswer pull(ApiCall call, HostedRepository repository) throws IOException {
        if (!call.hasBranches(repository, "/head", "/base")) {
            return invalid("PullRequest", "head or base is no branch");
        }
        if (call.hasPull(repository, "/head")) {
            return invalid("PullRequest",
                    "A pull request already exists for " + repository.owner() + ":" + call.text("/head")
                            + ".");
        }
        return GithubAnswers.pull(call, repository, "/pull/");
    }

    private ProviderAnswer status(ApiCall call, HostedRepository repository) throws IOException {
        if (!call.host().hasCommit(repository, call.segments().get(4))) {
            return error(422, "No commit found for SHA: " + call.segments().get(4));
        }
        HostedObject made = call.make("status", repository);
        return ProviderAnswer.of(201,
                Map.of("id", made.number(), "state", call.text("/state"), "context", call.text("/context")));
    }

    private static ProviderAnswer invalid(String resource, String message) {
        return ProviderAnswer.of(422, Map.of("message", "Validation Failed", "errors",
                List.of(Map.of("resource", resource, "code", "custom", "message", message))));
    }

    @Override
    public ProviderAnswer error(int status, String message) {
        return ProviderAnswer.of(status, Map.of("message", message, "documentation_url",
                "https://docs.github.com/rest", "status", String.valueOf(status)));
    }

    @Override
    public ProviderAnswer limited(Duration wait) {
        long reset = Instant.now().plus(wait).getEpochSecond();
        return error(403, "API rate limit exceeded for user ID 1.").with("X-RateLimit-Limit", "5000")
                .with("X-RateLimit-Remaining", "0")
                .with("X-RateLimit-Reset", String.valueOf(reset));
    }
}
