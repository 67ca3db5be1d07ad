package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.credentials.GitTokens;
import dev.culvert.handlers.spi.HandlerException;
import reactor.core.publisher.Mono;

/** Everybody has the server's token, but for {@code mallory}, whose token is wrong, and {@code newcomer}, who has none. */
final class FakeTokens implements GitTokens {
    @Override
    public Mono<GitToken> of(AuthenticatedCaller caller, String integration) {
        return switch (caller.id()) {
            case "newcomer" ->
                Mono.error(HandlerException.of(HandlerException.Reason.FORBIDDEN, "register a token first"));
            case "mallory" -> Mono.just(new GitToken(GitHttpServer.LOGIN, "guessed"));
            default -> Mono.just(new GitToken(GitHttpServer.LOGIN, GitHttpServer.TOKEN));
        };
    }

    @Override
    public Mono<GitToken> runtime(String integration) {
        return Mono.error(HandlerException.of(HandlerException.Reason.UNAVAILABLE, "none"));
    }

    @Override
    public Mono<Void> put(AuthenticatedCaller caller, String integration, GitToken token) {
        return Mono.empty();
    }

    @Override
    public Mono<Void> putRuntime(String integration, GitToken token) {
        return Mono.empty();
    }

    @Override
    public Mono<Boolean> remove(AuthenticatedCaller caller, String integration) {
        return Mono.just(false);
    }
}
