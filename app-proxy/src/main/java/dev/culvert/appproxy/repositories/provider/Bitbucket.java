package dev.culvert.appproxy.repositories.provider;

import static dev.culvert.appproxy.repositories.provider.ProviderApi.needed;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.path;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.credentials.GitToken;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The REST API of Bitbucket Cloud, version 2.0. The field {@code next} has the URL of the next page. */
public final class Bitbucket implements ProviderApi {
    /** The user name that Git sends with access tokens of repositories, projects and workspaces. */
    public static final String TOKEN_LOGIN = "x-token-auth";

    private final ProviderCalls calls;
    private final @Nullable String workspace;

    public Bitbucket(ProviderCalls calls, @Nullable String workspace) {
        this.calls = calls;
        this.workspace = workspace;
    }

    /** Sends users' own tokens as passwords, and access tokens of repositories as bearer tokens. */
    public static void authorize(HttpHeaders fields, GitToken token) {
        boolean bearer = token.login().isEmpty() || token.login().equals(TOKEN_LOGIN);
        byte[] pair = (token.login() + ":" + token.value()).getBytes(StandardCharsets.UTF_8);
        fields.set("Authorization",
                bearer ? "Bearer " + token.value() : "Basic " + Base64.getEncoder().encodeToString(pair));
    }

    @Override
    public Paging paging() {
        return new Paging(100, false, false);
    }

    @Override
    public Mono<Part> part(GitToken token, String from, int size) {
        String below = workspace == null ? "" : "/" + ProviderApi.encoded(workspace);
        Mono<ProviderReply> reply = from.isEmpty()
                ? calls.get(token, "/repositories" + below + "?role=member&sort=created_on&pagelen=" + size)
                : Mono.defer(() -> calls.get(token, URI.create(from)));
        return reply.map(ProviderReply::json)
                .map(json -> new Part(ProviderApi.repositories(json.path("values"), Bitbucket::repository),
                        text(json, "/next")));
    }

    @Override
    public Mono<GitUser> user(GitToken token) {
        return calls.get(token, "/user")
                .map(reply -> new GitUser(needed(reply.json(), "/username"),
                        Github.scopes(reply.field("X-OAuth-Scopes"))));
    }

    @Override
    public Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request) {
        ObjectNode body = JsonNodeFactory.instance.objectNode()
                .put("title", request.title())
                .put("description", request.description());
        body.putObject("source").putObject("branch").put("name", request.head());
        body.putObject("destination").putObject("branch").put("name", request.base());
        return calls.post(token, "/repositories/" + path(request.repository()) + "/pullrequests", body)
                .map(ProviderReply::json)
                .map(json -> new PullRequest(needed(json, "/id"), needed(json, "/links/html/href"),
                        needed(json, "/title"), needed(json, "/state")));
    }

    /** The clone link with a name, or null. */
    static @Nullable String clone(JsonNode json, String name) {
        for (JsonNode link : json.at("/links/clone")) {
            if (name.equals(link.path("name").asText())) {
                return link.path("href").asText();
            }
        }
        return null;
    }

    private static Repository repository(JsonNode json) {
        String url = clone(json, "https");
        return new Repository(needed(json, "/uuid"), ProviderKind.BITBUCKET.name(),
                needed(json, "/full_name"),
                url == null
                        ? needed(json, "/links/html/href") + ".git"
                        : url.replaceFirst("://[^/@]*@", "://"),
                clone(json, "ssh"), text(json, "/mainbranch/name"), json.path("is_private").asBoolean(),
                false,
                text(json, "/links/html/href"));
    }
}
