package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The REST API of Bitbucket Cloud below {@code /2.0}. Only the member {@code next} has the URL of the next
 * page.
 */
public final class BitbucketApi implements ProviderStandIn {
    private static final int MAX_PAGE = 100;

    @Override
    public String root() {
        return "/2.0";
    }

    @Override
    public @Nullable String token(Headers fields) {
        return StandInCredentials.bearerOrPassword(fields);
    }

    @Override
    public ProviderAnswer answer(ApiCall call) throws IOException {
        if (call.is("GET", "user")) {
            return ProviderAnswer
                    .of(200, Map.of("username", call.user().login(), "uuid", "{1}", "type", "user"))
                    .with("X-OAuth-Scopes", String.join(", ", call.user().scopes()));
        } else if (call.is("GET", "repositories") || call.is("GET", "repositories", "*")) {
            return list(call);
        }
        HostedRepository repository = call.repository("repositories");
        if (repository == null) {
            return error(404, "You may not have access to this repository or it no longer exists");
        } else if (call.is("GET", "repositories", "*", "*")) {
            return ProviderAnswer.of(200, json(call, repository));
        } else if (!call.user().mayWrite()) {
            return error(403, "Your credentials lack one or more required privilege scopes.");
        } else if (call.is("POST", "repositories", "*", "*", "pullrequests")) {
            return pull(call, repository);
        }
        return error(404, "Resource not found");
    }

    private static ProviderAnswer list(ApiCall call) {
        List<HostedRepository> all = call.segments().size() == 1
                ? call.host().all()
                : call.host()
                        .all()
                        .stream()
                        .filter(item -> item.owner().equals(call.segments().get(1)))
                        .toList();
        Slice slice = call.page(all, "pagelen", 10, MAX_PAGE);
        var json = new LinkedHashMap<String, Object>();
        json.put("pagelen", slice.size());
        json.put("page", slice.page());
        json.put("size", slice.total());
        json.put("values", slice.json(item -> json(call, item)));
        if (slice.hasNext()) {
            json.put("next", call.origin() + "/2.0/" + String.join("/", call.segments())
                    + "?role=member&sort=created_on&pagelen="
                    + slice.size() + "&page=" + (slice.page() + 1));
        }
        return ProviderAnswer.of(200, json);
    }

    private ProviderAnswer pull(ApiCall call, HostedRepository repository) throws IOException {
        if (!call.hasBranches(repository, "/source/branch/name", "/destination/branch/name")) {
            return error(400, "source or destination: branch not found");
        }
        HostedObject made = call.make("pull", repository);
        return ProviderAnswer.of(201, Map.of("id", made.number(), "state", "OPEN", "title",
                call.text("/title"),
                "links",
                Map.of("html", Map.of("href",
                        call.origin() + "/" + repository.fullName() + "/pull-requests/" + made.number()))));
    }

    @Override
    public ProviderAnswer error(int status, String message) {
        return ProviderAnswer.of(status, Map.of("type", "error", "error", Map.of("message", message)));
    }

    private static Map<String, Object> json(ApiCall call, HostedRepository repository) {
        var json = new LinkedHashMap<String, Object>();
        json.put("uuid", "{" + repository.id() + "}");
        json.put("full_name", repository.fullName());
        json.put("is_private", repository.isPrivate());
        json.put("mainbranch", Map.of("type", "branch", "name", "main"));
        json.put("links",
                Map.of("html", Map.of("href", call.origin() + "/" + repository.fullName()), "clone", List.of(
                        Map.of("name", "https", "href",
                                call.origin() + "/" + repository.fullName() + ".git"),
                        Map.of("name", "ssh", "href",
                                "git@bitbucket.test:" + repository.fullName() + ".git"))));
        return json;
    }
}
