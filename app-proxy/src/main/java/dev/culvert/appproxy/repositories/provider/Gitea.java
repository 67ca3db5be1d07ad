package dev.culvert.appproxy.repositories.provider;

import static dev.culvert.appproxy.repositories.provider.ProviderApi.needed;

import dev.culvert.appproxy.credentials.GitToken;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import reactor.core.publisher.Mono;

/** Gitea's REST API, version 1. */
public final class Gitea implements ProviderApi {
    private final ProviderCalls calls;
    private final GithubForm form;

    public Gitea(ProviderCalls calls) {
        this.calls = calls;
        this.form = new GithubForm(calls, ProviderKind.GITEA);
    }

    public static void authorize(HttpHeaders fields, GitToken token) {
        fields.set("Authorization", "token " + token.value());
    }

    /** Gitea's default of MAX_RESPONSE_ITEMS. */
    @Override
    public Paging paging() {
        return new Paging(50, true, true);
    }

    @Override
    public Mono<Part> part(GitToken token, String from, int size) {
        return form.part(token, "/user/repos?order_by=id&limit=" + size + "&page=", from);
    }

    @Override
    public Mono<GitUser> user(GitToken token) {
        return calls.get(token, "/user").map(reply -> new GitUser(needed(reply.json(), "/login"), List.of()));
    }

    @Override
    public Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request) {
        return form.createPullRequest(token, request);
    }
}
