package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** GitLab's REST API below {@code /api/v4}. */
public final class GitlabApi implements ProviderStandIn {
    private static final int MAX_PAGE = 100;
    private static final int MAINTAINER = 40;
    private static final int REPORTER = 20;

    @Override
    public String root() {
        return "/api/v4";
    }

    @Override
    public @Nullable String token(Headers fields) {
        String own = fields.getFirst("PRIVATE-TOKEN");
        return own != null ? own : StandInCredentials.authorization(fields, "Bearer");
    }

    @Override
    public ProviderAnswer answer(ApiCall call) throws IOException {
        if (call.is("GET", "user")) {
            return ProviderAnswer.of(200,
                    Map.of("id", 1, "username", call.user().login(), "state", "active"));
        } else if (call.is("GET", "personal_access_tokens", "self")) {
            return ProviderAnswer.of(200, Map.of("id", 1, "active", true, "scopes", call.user().scopes()));
        } else if (call.is("GET", "projects")) {
            return list(call);
        }
        HostedRepository repository = call.segments().size() < 2 || !call.segments().get(0).equals("projects")
                ? null
                : call.host().find(call.segments().get(1)).orElse(null);
        if (repository == null) {
            return error(404, "404 Project Not Found");
        } else if (call.is("GET", "projects", "*")) {
            return ProviderAnswer.of(200, json(call, repository));
        } else if (!call.user().mayWrite()) {
            return error(403, "403 Forbidden");
        } else if (call.is("POST", "projects", "*", "merge_requests")) {
            return merge(call, repository);
        } else if (call.is("POST", "projects", "*", "hooks")) {
            HostedObject made = call.make("hook", repository);
            return ProviderAnswer.of(201, Map.of("id", made.number(), "url", call.text("/url")));
        } else if (call.is("POST", "projects", "*", "statuses", "*")) {
            return status(call, repository);
        }
        return error(404, "404 Not Found");
    }

    private static ProviderAnswer list(ApiCall call) {
        Slice slice = call.page(call.host().all(), "per_page", 20, MAX_PAGE);
        return ProviderAnswer.of(200, slice.json(item -> json(call, item)))
                .with("X-Page", String.valueOf(slice.page()))
                .with("X-Per-Page", String.valueOf(slice.size()))
                .with("X-Next-Page", slice.hasNext() ? String.valueOf(slice.page() + 1) : "")
                .with("X-Total", String.valueOf(slice.total()))
                .with("X-Total-Pages", String.valueOf(slice.pages()))
                .with("RateLimit-Remaining", "1999");
    }

    private ProviderAnswer merge(ApiCall call, HostedRepository repository) throws IOException {
        if (!call.hasBranches(repository, "/source_branch", "/target_branch")) {
            return ProviderAnswer.of(422,
                    Map.of("message", List.of("source or target branch does not exist")));
        }
        if (call.hasPull(repository, "/source_branch")) {
            return ProviderAnswer.of(409, Map.of("message",
                    List.of("Another open merge request already exists for this source branch: !1")));
        }
        HostedObject made = call.make("pull", repository);
        return ProviderAnswer.of(201,
                Map.of("iid", made.number(), "state", "opened", "title", call.text("/title"),
                        "web_url",
                        call.origin() + "/" + repository.fullName() + "/-/merge_requests/" + made.number()));
    }

    private ProviderAnswer status(ApiCall call, HostedRepository repository) throws IOException {
        if (!call.host().hasCommit(repository, call.segments().get(3))) {
            return error(404, "404 Commit Not Found");
        }
        HostedObject made = call.make("status", repository);
        return ProviderAnswer.of(201, Map.of("id", made.number(), "status", call.text("/state"), "name",
                call.text("/name")));
    }

    @Override
    public ProviderAnswer error(int status, String message) {
        return ProviderAnswer.of(status, Map.of("message", message));
    }

    @Override
    public ProviderAnswer limited(Duration wait) {
        return ProviderStandIn.super.limited(wait).with("RateLimit-Remaining", "0")
                .with("RateLimit-Reset", String.valueOf(Instant.now().plus(wait).getEpochSecond()));
    }

    private static Map<String, Object> json(ApiCall call, HostedRepository repository) {
        var json = new LinkedHashMap<String, Object>();
        json.put("id", repository.id());
        json.put("path_with_namespace", repository.fullName());
        json.put("default_branch", "main");
        json.put("visibility", repository.isPrivate() ? "private" : "public");
        json.put("http_url_to_repo", call.origin() + "/" + repository.fullName() + ".git");
        json.put("ssh_url_to_repo", "git@gitlab.test:" + repository.fullName() + ".git");
        json.put("web_url", call.origin() + "/" + repository.fullName());
        json.put("permissions", Map.of("project_access",
                Map.of("access_level", call.user().mayWrite() ? MAINTAINER : REPORTER)));
        return json;
    }
}
