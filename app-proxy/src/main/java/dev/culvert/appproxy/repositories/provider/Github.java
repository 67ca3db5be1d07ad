package dev.culvert.appproxy.repositories.provider;

import static dev.culvert.appproxy.repositories.provider.ProviderApi.needed;
import static dev.culvert.appproxy.repositories.provider.ProviderApi.path;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.credentials.GitToken;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** GitHub's REST API, version 2022-11-28. */
public final class Github implements ProviderApi {
    private final ProviderCalls calls;
    private final GithubForm form;

    public Github(ProviderCalls calls) {
        this.calls = calls;
        this.form = new GithubForm(calls, ProviderKind.GITHUB);
    }

    public static void authorize(HttpHeaders fields, GitToken token) {
        fields.set("Authorization", "Bearer " + token.value());
        fields.set("Accept", "application/vnd.github+json");
        fields.set("X-GitHub-Api-Version", "2022-11-28");
    }

    @Override
    public Paging paging() {
        return new Paging(100, true, false);
    }

    @Override
    public Mono<Part> part(GitToken token, String from, int size) {
        // Ordered by creation, so repositories added between two pages are listed last.
        return form.part(token, "/user/repos?sort=created&direction=asc&per_page=" + size + "&page=", from);
    }

    @Override
    public Mono<GitUser> user(GitToken token) {
        return calls.get(token, "/user")
                .map(reply -> new GitUser(needed(reply.json(), "/login"),
                        scopes(reply.field("X-OAuth-Scopes"))));
    }

    @Override
    public Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request) {
        return form.createPullRequest(token, request);
    }

    @Override
    public Mono<Webhook> createWebhook(GitToken token, NewWebhook request) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("name", "web").put("active", true);
        request.events().forEach(body.putArray("events")::add);
        body.putObject("config")
                .put("url", request.url().toString())
                .put("content_type", "json")
                .put("secret", request.secret())
                .put("insecure_ssl", "0");
        return calls.post(token, "/repos/" + path(request.repository()) + "/hooks", body)
                .map(reply -> new Webhook(needed(reply.json(), "/id"), request.url().toString()));
    }

    @Override
    public Mono<Void> setCommitStatus(GitToken token, CommitStatus status) {
        ObjectNode body = JsonNodeFactory.instance.objectNode()
                .put("state", status.state().name().toLowerCase(Locale.ROOT))
                .put("context", status.context())
                .put("description", status.description());
        if (status.targetUrl() != null) {
            body.put("target_url", status.targetUrl());
        }
        return calls
                .post(token, "/repos/" + path(status.repository()) + "/statuses/"
                        + ProviderApi.encoded(status.sha()), body)
                .then();
    }

    /**
     * Parses the scopes. The responses to fine-grained tokens have no such field. An empty field means a
     * token without rights.
     */
    static List<String> scopes(@Nullable String field) {
        if (field == null) {
            return List.of();
        }
        return field.isBlank()
                ? List.of("none")
                : Arrays.stream(field.split(",")).map(String::strip).toList();
    }
}
