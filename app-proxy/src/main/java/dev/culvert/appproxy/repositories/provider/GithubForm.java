package dev.culvert.appproxy.repositories.provider;

import static dev.culvert.appproxy.repositories.provider.ProviderApi.needed;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.path;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.repositories.provider.ProviderApi.Part;
import reactor.core.publisher.Mono;

/** The calls that Gitea's REST API shares with GitHub's. */
record GithubForm(ProviderCalls calls, ProviderKind kind) {
    /** @param query the path of the list with the query of one page, which ends before the page's number */
    Mono<Part> part(GitToken token, String query, String from) {
        int page = from.isEmpty() ? 1 : Integer.parseInt(from);
        return calls.get(token, query + page)
                .map(reply -> new Part(ProviderApi.repositories(reply.json(), this::repository),
                        reply.linksToNext() ? String.valueOf(page + 1) : null));
    }

    Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request) {
        ObjectNode body = JsonNodeFactory.instance.objectNode()
                .put("title", request.title())
                .put("body", request.description())
                .put("head", request.head())
                .put("base", request.base());
        return calls.post(token, "/repos/" + path(request.repository()) + "/pulls", body)
                .map(ProviderReply::json)
                .map(json -> new PullRequest(needed(json, "/number"), needed(json, "/html_url"),
                        needed(json, "/title"), needed(json, "/state")));
    }

    private Repository repository(JsonNode json) {
        return new Repository(needed(json, "/id"), kind.name(), needed(json, "/full_name"),
                needed(json, "/clone_url"), text(json, "/ssh_url"), text(json, "/default_branch"),
                json.path("private").asBoolean(), json.at("/permissions/admin").asBoolean(),
                text(json, "/html_url"));
    }
}
