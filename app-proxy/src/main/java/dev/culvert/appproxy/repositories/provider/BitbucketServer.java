package dev.culvert.appproxy.repositories.provider;

import static dev.culvert.appproxy.repositories.provider.ProviderApi.encoded;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.needed;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.credentials.GitToken;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The REST API of Bitbucket Data Center, version 1.0. The server filters by permission after it has cut
 * pages, so only {@code nextPageStart} has the start of the next page.
 */
public final class BitbucketServer implements ProviderApi {
    private final ProviderCalls calls;

    public BitbucketServer(ProviderCalls calls) {
        this.calls = calls;
    }

    public static void authorize(HttpHeaders fields, GitToken token) {
        fields.set("Authorization", "Bearer " + token.value());
    }

    @Override
    public Paging paging() {
        return new Paging(1000, false, false);
    }

    @Override
    public Mono<Part> part(GitToken token, String from, int size) {
        return calls.get(token, "/repos?limit=" + size + "&start=" + (from.isEmpty() ? "0" : encoded(from)))
                .map(ProviderReply::json)
                .map(json -> new Part(
                        ProviderApi.repositories(json.path("values"), BitbucketServer::repository),
                        json.path("isLastPage").asBoolean(true) ? null : needed(json, "/nextPageStart")));
    }

    /** Reads the user from a header field, which every response has. */
    @Override
    public Mono<GitUser> user(GitToken token) {
        return calls.get(token, "/repos?limit=1").map(reply -> {
            String login = reply.field("X-AUSERNAME");
            return new GitUser(login == null ? Bitbucket.TOKEN_LOGIN : login, List.of());
        });
    }

    @Override
    public Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request) {
        int slash = request.repository().lastIndexOf('/');
        String key = request.repository().substring(0, Math.max(0, slash));
        String slug = request.repository().substring(slash + 1);
        ObjectNode body = JsonNodeFactory.instance.objectNode()
                .put("title", request.title())
                .put("description", request.description())
                .put("state", "OPEN");
        reference(body.putObject("fromRef"), request.head(), key, slug);
        reference(body.putObject("toRef"), request.base(), key, slug);
        return calls
                .post(token, "/projects/" + encoded(key) + "/repos/" + encoded(slug) + "/pull-requests", body)
                .map(ProviderReply::json)
                .map(json -> new PullRequest(needed(json, "/id"), needed(json, "/links/self/0/href"),
                        needed(json, "/title"), needed(json, "/state")));
    }

    private static void reference(ObjectNode reference, String branch, String key, String slug) {
        reference.put("id", "refs/heads/" + branch);
        reference.putObject("repository").put("slug", slug).putObject("project").put("key", key);
    }

    private static Repository repository(JsonNode json) {
        String url = Bitbucket.clone(json, "http");
        return new Repository(needed(json, "/id"), ProviderKind.BITBUCKET_SERVER.name(),
                needed(json, "/project/key") + "/" + needed(json, "/slug"), url == null ? "" : url,
                Bitbucket.clone(json, "ssh"), null, !json.path("public").asBoolean(), false,
                text(json, "/links/self/0/href"));
    }
}
