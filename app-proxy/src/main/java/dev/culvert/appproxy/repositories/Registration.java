package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.repositories.provider.Bitbucket;
import dev.culvert.appproxy.repositories.provider.GitUser;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Checks a token with the provider before it is stored: its owner, and whether it has the required scopes.
 */
final class Registration {
    private static final int MAX_TOKEN = 4096;
    /**
     * RFC 7617 §2: a user name with a colon can't be sent. A line end would separate it from its token in the
     * store.
     */
    private static final Pattern LOGIN = Pattern.compile("[!-9;-~]{0,255}");
    private static final Map<ProviderKind, List<String>> USERS = Map.of(ProviderKind.GITHUB, List.of("repo"),
            ProviderKind.GITLAB, List.of("api"));
    private static final Map<ProviderKind, List<String>> RUNTIMES = Map.of(ProviderKind.GITHUB,
            List.of("repo", "admin:repo_hook"), ProviderKind.GITLAB, List.of("api"));

    private Registration() {}

    /**
     * Emits the token to store. Errors: BAD_REQUEST for a token that lacks a scope or is malformed, and those
     * of {@link Integration}.
     */
    static Mono<GitToken> checked(Integration integration, String value, @Nullable String login,
            boolean ofRuntime) {
        if (!integration.needsToken()) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                    integration.name() + " is a plain folder: it asks for no Git token"));
        }
        if (value.isEmpty() || value.length() > MAX_TOKEN
                || !value.chars().allMatch(c -> c > ' ' && c < 127)) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                    "token: no Git token (expected: 1..4096 visible ASCII characters)"));
        }
        if (login != null && !LOGIN.matcher(login).matches()) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                    "username: not usable (expected: at most 255 visible ASCII characters without colon)"));
        }
        boolean bearer = integration.kind() == ProviderKind.BITBUCKET && login == null;
        String given = bearer ? Bitbucket.TOKEN_LOGIN : login == null ? "" : login;
        return integration.user(new GitToken(given, value)).map(user -> {
            needed(integration, ofRuntime, user);
            return new GitToken(given.isEmpty() ? user.login() : given, value);
        });
    }

    private static void needed(Integration integration, boolean ofRuntime, GitUser user) {
        List<String> scopes = (ofRuntime ? RUNTIMES : USERS).getOrDefault(integration.kind(), List.of());
        List<String> missing = scopes.stream().filter(scope -> !user.scopes().contains(scope)).toList();
        if (!user.scopes().isEmpty() && !missing.isEmpty()) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "the token lacks the scopes " + String.join(", ", missing) + " at " + integration.name());
        }
    }
}
