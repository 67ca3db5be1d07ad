package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The REST API of Bitbucket Data Center below {@code /rest/api/1.0}. {@code X-AUSERNAME} contains the user.
 */
public final class BitbucketServerApi implements ProviderStandIn {
    private static final int MAX_PAGE = 1000;

    @Override
    public String root() {
        return "/rest/api/1.0";
    }

    @Override
    public String gitPrefix() {
        return "/scm";
    }

    @Override
    public boolean hasValidators() {
        return false;
    }

    @Override
    public @Nullable String token(Headers fields) {
        return StandInCredentials.bearerOrPassword(fields);
    }

    @Override
    public ProviderAnswer answer(ApiCall call) throws IOException {
        return answered(call).with("X-AUSERNAME", call.user().login());
    }

    private ProviderAnswer answered(ApiCall call) throws IOException {
        if (call.is("GET", "repos")) {
            return list(call);
        }
        List<String> path = call.segments();
        HostedRepository repository = path.size() < 4 || !path.get(0).equals("projects")
                ? null
                : call.host().find(path.get(1) + "/" + path.get(3)).orElse(null);
        if (repository == null) {
            return error(404, "The repository does not exist.");
        } else if (call.is("GET", "projects", "*", "repos", "*")) {
            return ProviderAnswer.of(200, json(call, repository));
        } else if (!call.user().mayWrite()) {
            return error(403, "You are not permitted to access this resource");
        } else if (call.is("POST", "projects", "*", "repos", "*", "pull-requests")) {
            return pull(call, repository);
        }
        return error(404, "Not found");
    }

    private static ProviderAnswer list(ApiCall call) {
        int size = Math.min(MAX_PAGE, call.number("limit", 25));
        int start = call.number("start", 0);
        List<HostedRepository> all = call.host().all();
        int from = Math.min(all.size(), start);
        int to = Math.min(all.size(), from + size);
        var json = new LinkedHashMap<String, Object>();
        json.put("size", to - from);
        json.put("limit", size);
        json.put("start", start);
        json.put("isLastPage", to == all.size());
        json.put("values", all.subList(from, to).stream().map(item -> json(call, item)).toList());
        if (to < all.size()) {
            json.put("nextPageStart", to);
        }
        return ProviderAnswer.of(200, json);
    }

    private ProviderAnswer pull(ApiCall call, HostedRepository repository) throws IOException {
        if (!call.hasBranches(repository, "/fromRef/id", "/toRef/id")) {
            return error(404, "A branch of the pull request does not exist.");
        }
        HostedObject made = call.make("pull", repository);
        return ProviderAnswer.of(201, Map.of("id", made.number(), "state", "OPEN", "title",
                call.text("/title"),
                "links",
                Map.of("self",
                        List.of(Map.of("href", call.origin() + "/projects/" + repository.owner() + "/repos/"
                                + repository.name() + "/pull-requests/" + made.number())))));
    }

    @Override
    public ProviderAnswer error(int status, String message) {
        return ProviderAnswer.of(status, Map.of("errors", List.of(Map.of("message", message))));
    }

    private static Map<String, Object> json(ApiCall call, HostedRepository repository) {
        var json = new LinkedHashMap<String, Object>();
        json.put("id", repository.id());
        json.put("slug", repository.name());
        json.put("name", repository.name());
        json.put("public", !repository.isPrivate());
        json.put("project", Map.of("key", repository.owner()));
        json.put("links", Map.of("clone",
                List.of(Map.of("name", "http", "href",
                        call.origin() + "/scm/" + repository.fullName() + ".git"),
                        Map.of("name", "ssh", "href",
                                "ssh://git@bitbucket.test:7999/" + repository.fullName() + ".git")),
                "self", List.of(Map.of("href", call.origin() + "/projects/" + repository.owner() + "/repos/"
                        + repository.name() + "/browse"))));
        return json;
    }
}
