package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
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
    public boolean hasValidators() {
        return true;
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
                        ? list(call)
                        : call.is("POST", "user", "repos") ? created(call) : ofRepository(call);
        return answer.with("X-OAuth-Scopes", String.join(", ", call.user().scopes()))
                .with("X-RateLimit-Limit", "5000")
                .with("X-RateLimit-Remaining", "4999")
                .with("X-RateLimit-Reset", String.valueOf(Instant.now().getEpochSecond() + 3600));
    }

    private static ProviderAnswer list(ApiCall call) {
        int size = Math.min(MAX_PAGE, call.number("per_page", 30));
        Slice slice = Slice.page(call.host().all(), call.number("page", 1), size);
        ProviderAnswer answer = ProviderAnswer.of(200,
                slice.items().stream().map(item -> json(call, item)).toList());
        String links = slice.links(call.origin() + "/api/v3/user/repos?per_page=" + size);
        return links.isEmpty() ? answer : answer.with("Link", links);
    }

    private static ProviderAnswer created(ApiCall call) throws IOException {
        return ProviderAnswer.of(201,
                json(call, call.host().repository(call.user().login() + "/" + call.text("/name"))));
    }

    private ProviderAnswer ofRepository(ApiCall call) throws IOException {
        List<String> path = call.segments();
        HostedRepository repository = path.size() < 3 || !path.get(0).equals("repos")
                ? null
                : call.host().find(path.get(1) + "/" + path.get(2)).orElse(null);
        if (repository == null) {
            return error(404, "Not Found");
        } else if (call.is("GET", "repos", "*", "*")) {
            return ProviderAnswer.of(200, json(call, repository));
        } else if (!call.user().mayWrite()) {
            return error(403, "Resource not accessible by personal access token");
        } else if (call.is("POST", "repos", "*", "*", "pulls")) {
            return pull(call, repository);
        } else if (call.is("POST", "repos", "*", "*", "hooks")) {
            HostedObject made = call.host().make("hook", repository, call.user(), call.body());
            return ProviderAnswer.of(201, Map.of("id", made.number(), "type", "Repository", "active", true,
                    "config",
                    Map.of("url", call.text("/config/url"), "content_type", "json", "secret", "********")));
        } else if (call.is("POST", "repos", "*", "*", "statuses", "*")) {
            return status(call, repository);
        }
        return error(404, "Not Found");
    }

    private ProviderAnswer pull(ApiCall call, HostedRepository repository) throws IOException {
        boolean known = call.host().hasBranch(repository, call.text("/head"))
                && call.host().hasBranch(repository, call.text("/base"));
        if (!known) {
            return invalid("PullRequest", "head or base is no branch");
        }
        boolean open = call.host()
                .made("pull")
                .stream()
                .anyMatch(pull -> pull.repository().equals(repository.fullName())
                        && pull.body().at("/head").equals(call.body().at("/head")));
        if (open) {
            return invalid("PullRequest",
                    "A pull request already exists for " + repository.owner() + ":" + call.text("/head")
                            + ".");
        }
        HostedObject made = call.host().make("pull", repository, call.user(), call.body());
        return ProviderAnswer.of(201,
                Map.of("number", made.number(), "state", "open", "title", call.text("/title"),
                        "html_url", call.origin() + "/" + repository.fullName() + "/pull/" + made.number()));
    }

    private ProviderAnswer status(ApiCall call, HostedRepository repository) throws IOException {
        if (!call.host().hasCommit(repository, call.segments().get(4))) {
            return error(422, "No commit found for SHA: " + call.segments().get(4));
        }
        HostedObject made = call.host().make("status", repository, call.user(), call.body());
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

    private static Map<String, Object> json(ApiCall call, HostedRepository repository) {
        var json = new LinkedHashMap<String, Object>();
        json.put("id", repository.id());
        json.put("name", repository.name());
        json.put("full_name", repository.fullName());
        json.put("private", repository.isPrivate());
        json.put("html_url", call.origin() + "/" + repository.fullName());
        json.put("clone_url", call.origin() + "/" + repository.fullName() + ".git");
        json.put("ssh_url", "git@github.test:" + repository.fullName() + ".git");
        json.put("default_branch", "main");
        json.put("permissions", Map.of("admin", call.user().mayWrite(), "push", call.user().mayWrite(),
                "pull", true));
        return json;
    }
}
