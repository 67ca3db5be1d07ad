package dev.culvert.standins.git;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Gitea's REST API below {@code /api/v1}. A page has at most 50 items, also if more were requested. */
public final class GiteaApi implements ProviderStandIn {
    private static final int MAX_PAGE = 50;

    @Override
    public String root() {
        return "/api/v1";
    }

    @Override
    public boolean hasValidators() {
        return false;
    }

    @Override
    public @Nullable String token(Headers fields) {
        return StandInCredentials.authorization(fields, "token", "Bearer");
    }

    @Override
    public ProviderAnswer answer(ApiCall call) throws IOException {
        if (call.is("GET", "user")) {
            return ProviderAnswer.of(200, Map.of("id", 1, "login", call.user().login()));
        } else if (call.is("GET", "user", "repos")) {
            return GithubAnswers.list(call, root(), "limit", MAX_PAGE);
        }
        HostedRepository repository = call.repository("repos");
        if (repository == null) {
            return error(404, "The target couldn't be found.");
        } else if (call.is("GET", "repos", "*", "*")) {
            return ProviderAnswer.of(200, GithubAnswers.repository(call, repository));
        } else if (!call.user().mayWrite()) {
            return error(403, "user should have a permission to write to a repo");
        } else if (call.is("POST", "repos", "*", "*", "pulls")) {
            return pull(call, repository);
        }
        return error(404, "Not Found");
    }

    private ProviderAnswer pull(ApiCall call, HostedRepository repository) throws IOException {
        if (!call.hasBranches(repository, "/head", "/base")) {
            return error(404, "The target couldn't be found.");
        }
        return GithubAnswers.pull(call, repository, "/pulls/");
    }

    @Override
    public ProviderAnswer error(int status, String message) {
        return ProviderAnswer.of(status, Map.of("message", message, "url", "/api/swagger"));
    }
}
