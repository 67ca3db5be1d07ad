package dev.culvert.appproxy.repositories.provider;

import static dev.culvert.appproxy.repositories.provider.ProviderApi.needed;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.path;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.credentials.GitToken;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import reactor.core.publisher.Mono;

/** Gitea's REST API, version 1. */
public final class Gitea implements ProviderApi {
    private final ProviderCalls calls;

    public Gitea(ProviderCalls calls) {
        this.calls = calls;
    }

    public static void authorize(HttpHeaders fields, GitToken token) {
        fields.set("Authorization", "token " + token.value());
    }

    /** Gitea's default of MAX_RESPONSE_ITEMS. */
    @Override
    public int maxPage() {
        return 50;
    }

    @Override
    public boolean numbered() {
        return true;
    }

    @Override
    public boolean mayGiveLess() {
        return true;
    }

    @Override
    public Mono<Part> part(GitToken token, String from, int size) {
        int page = from.isEmpty() ? 1 : Integer.parseInt(from);
        return calls.get(token, "/user/repos?order_by=id&limit=" + size + "&page=" + page)
                .map(reply -> new Part(ProviderApi.repositories(reply.json(), Gitea::repository),
                        reply.linksToNext() ? String.valueOf(page + 1) : null));
    }

    @Override
    public Mono<GitUser> user(GitToken token) {
        return calls.get(token, "/user").map(reply -> new GitUser(needed(reply.json(), "/login"), List.of()));
    }

    @Override
    public Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request) {
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

    private static Repository repository(JsonNode json) {
        return new Repository(needed(json, "/id"), ProviderKind.GITEA.name(), needed(json, "/full_name"),
                needed(json, "/clone_url"), text(json, "/ssh_url"), text(json, "/default_branch"),
                json.path("private").asBoolean(), json.at("/permissions/admin").asBoolean(),
                text(json, "/html_url"));
    }
}
