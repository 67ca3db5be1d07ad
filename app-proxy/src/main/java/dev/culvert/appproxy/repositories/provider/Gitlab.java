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
import java.util.Map;
import java.util.stream.StreamSupport;
import reactor.core.publisher.Mono;

/** GitLab's REST API, version 4. */
public final class Gitlab implements ProviderApi {
    /** The lowest access level of a project's administrators. */
    private static final int MAINTAINER = 40;
    private static final Map<String, String> EVENTS = Map.of("push", "push_events", "pull_request",
            "merge_requests_events", "release", "releases_events");
    private static final Map<CommitStatus.State, String> STATES = Map.of(CommitStatus.State.PENDING,
            "pending",
            CommitStatus.State.SUCCESS, "success", CommitStatus.State.FAILURE, "failed",
            CommitStatus.State.ERROR, "failed");

    private final ProviderCalls calls;

    public Gitlab(ProviderCalls calls) {
        this.calls = calls;
    }

    public static void authorize(HttpHeaders fields, GitToken token) {
        fields.set("PRIVATE-TOKEN", token.value());
    }

    @Override
    public Paging paging() {
        return new Paging(100, true, false);
    }

    @Override
    public Mono<Part> part(GitToken token, String from, int size) {
        String page = from.isEmpty() ? "1" : from;
        return calls
                .get(token,
                        "/projects?membership=true&order_by=id&sort=asc&per_page=" + size + "&page=" + page)
                .map(reply -> {
                    String next = reply.field("X-Next-Page");
                    return new Part(ProviderApi.repositories(reply.json(), Gitlab::repository),
                            next == null || next.isBlank() ? null : next.strip());
                });
    }

    @Override
    public Mono<GitUser> user(GitToken token) {
        Mono<List<String>> scopes = calls.get(token, "/personal_access_tokens/self")
                .map(reply -> StreamSupport.stream(reply.json().path("scopes").spliterator(), false)
                        .map(JsonNode::asText)
                        .toList())
                .onErrorReturn(List.of()); // not every version allows project tokens to read themselves
        return calls.get(token, "/user")
                .map(reply -> needed(reply.json(), "/username"))
                .flatMap(login -> scopes.map(known -> new GitUser(login, known)));
    }

    @Override
    public Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request) {
        ObjectNode body = JsonNodeFactory.instance.objectNode()
                .put("title", request.title())
                .put("description", request.description())
                .put("source_branch", request.head())
                .put("target_branch", request.base());
        return calls.post(token, project(request.repository()) + "/merge_requests", body)
                .map(ProviderReply::json)
                .map(json -> new PullRequest(needed(json, "/iid"), needed(json, "/web_url"),
                        needed(json, "/title"), needed(json, "/state")));
    }

    @Override
    public Mono<Webhook> createWebhook(GitToken token, NewWebhook request) {
        ObjectNode body = JsonNodeFactory.instance.objectNode()
                .put("url", request.url().toString())
                .put("token", request.secret())
                .put("enable_ssl_verification", true);
        EVENTS.forEach((event, key) -> body.put(key, request.events().contains(event)));
        return calls.post(token, project(request.repository()) + "/hooks", body)
                .map(reply -> new Webhook(needed(reply.json(), "/id"), request.url().toString()));
    }

    @Override
    public Mono<Void> setCommitStatus(GitToken token, CommitStatus status) {
        ObjectNode body = JsonNodeFactory.instance.objectNode()
                .put("state", STATES.get(status.state()))
                .put("name", status.context())
                .put("description", status.description());
        if (status.targetUrl() != null) {
            body.put("target_url", status.targetUrl());
        }
        return calls.post(token, project(status.repository()) + "/statuses/" + encoded(status.sha()), body)
                .then();
    }

    private static String project(String repository) {
        return "/projects/" + encoded(repository);
    }

    private static Repository repository(JsonNode json) {
        int level = Math.max(json.at("/permissions/project_access/access_level").asInt(),
                json.at("/permissions/group_access/access_level").asInt());
        return new Repository(needed(json, "/id"), ProviderKind.GITLAB.name(),
                needed(json, "/path_with_namespace"), needed(json, "/http_url_to_repo"),
                text(json, "/ssh_url_to_repo"), text(json, "/default_branch"),
                !"public".equals(json.path("visibility").asText()), level >= MAINTAINER,
                text(json, "/web_url"));
    }
}
