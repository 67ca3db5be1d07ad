package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Gitea's REST API below {@code /api/v1}. A page has at most 50 items, also if more were requested. */
public final class GiteaApi implements ProviderStandIn {
    private static final int MAX_PAGE = 50;

    @Override
    public String root() {
        return "/api/v1";
    }

    @Override
    public boolean hasValidators() {
        return false;
    }

    @Override
    public @Nullable String token(Headers fields) {
        return StandInCredentials.authorization(fields, "token", "Bearer");
    }

    @Override
    public ProviderAnswer answer(ApiCall call) throws IOException {
        if (call.is("GET", "user")) {
            return ProviderAnswer.of(200, Map.of("id", 1, "login", call.user().login()));
        } else if (call.is("GET", "user", "repos")) {
            return list(call);
        }
        List<String> path = call.segments();
        HostedRepository repository = path.size() < 3 || !path.get(0).equals("repos")
                ? null
                : call.host().find(path.get(1) + "/" + path.get(2)).orElse(null);
        if (repository == null) {
            return error(404, "The target couldn't be found.");
        } else if (call.is("GET", "repos", "*", "*")) {
            return ProviderAnswer.of(200, json(call, repository));
        } else if (!call.user().mayWrite()) {
            return error(403, "user should have a permission to write to a repo");
        } else if (call.is("POST", "repos", "*", "*", "pulls")) {
            return pull(call, repository);
        }
        return error(404, "Not Found");
    }

    private static ProviderAnswer list(ApiCall call) {
        int size = Math.min(MAX_PAGE, call.number("limit", 30));
        Slice slice = Slice.page(call.host().all(), call.number("page", 1), size);
        ProviderAnswer answer = ProviderAnswer
                .of(200, slice.items().stream().map(item -> json(call, item)).toList())
                .with("X-Total-Count", String.valueOf(slice.total()));
        String links = slice.links(call.origin() + "/api/v1/user/repos?limit=" + size);
        return links.isEmpty() ? answer : answer.with("Link", links);
    }

    private ProviderAnswer pull(ApiCall call, HostedRepository repository) throws IOException {
        boolean known = call.host().hasBranch(repository, call.text("/head"))
                && call.host().hasBranch(repository, call.text("/base"));
        if (!known) {
            return error(404, "The target couldn't be found.");
        }
        HostedObject made = call.host().make("pull", repository, call.user(), call.body());
        return ProviderAnswer.of(201,
                Map.of("number", made.number(), "state", "open", "title", call.text("/title"),
                        "html_url", call.origin() + "/" + repository.fullName() + "/pulls/" + made.number()));
    }

    @Override
    public ProviderAnswer error(int status, String message) {
        return ProviderAnswer.of(status, Map.of("message", message, "url", "/api/swagger"));
    }

    @Override
    public ProviderAnswer limited(Duration wait) {
        return error(429, "Too many requests").with("Retry-After", String.valueOf(wait.toSeconds()));
    }

    private static Map<String, Object> json(ApiCall call, HostedRepository repository) {
        var json = new LinkedHashMap<String, Object>();
        json.put("id", repository.id());
        json.put("full_name", repository.fullName());
        json.put("private", repository.isPrivate());
        json.put("default_branch", "main");
        json.put("html_url", call.origin() + "/" + repository.fullName());
        json.put("clone_url", call.origin() + "/" + repository.fullName() + ".git");
        json.put("ssh_url", "git@gitea.test:" + repository.fullName() + ".git");
        json.put("permissions", Map.of("admin", call.user().mayWrite()));
        return json;
    }
}
