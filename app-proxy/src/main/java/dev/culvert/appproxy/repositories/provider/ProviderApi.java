package dev.culvert.appproxy.repositories.provider;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.repositories.Integration;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The differences between the REST APIs of providers. Errors as in {@link Integration}. */
public interface ProviderApi {
    Paging paging();

    /**
     * Reads a part of the list.
     *
     * @param from a page's number, or the start of this part from the previous part; empty: the beginning
     */
    Mono<Part> part(GitToken token, String from, int size);

    Mono<GitUser> user(GitToken token);

    Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request);

    default Mono<Webhook> createWebhook(GitToken token, NewWebhook request) {
        return none("webhooks");
    }

    default Mono<Void> setCommitStatus(GitToken token, CommitStatus status) {
        return none("commit statuses");
    }

    /**
     * The pages of the list.
     *
     * @param max the maximum number of repositories in a response
     * @param numbered whether pages are numbered from 1, so any page can be requested; otherwise each page
     *        has the start of the next
     * @param mayGiveLess whether the operator may have set a smaller size than {@code max}, to which pages
     *        are then cut silently
     */
    record Paging(int max, boolean numbered, boolean mayGiveLess) {}

    /**
     * A part of a list.
     *
     * @param next the start of the next part; null: this is the last part
     */
    record Part(List<Repository> items, @Nullable String next) {}

    private static <T> Mono<T> none(String what) {
        return Mono.error(HandlerException.of(Reason.BAD_REQUEST, what + " are for GitHub and GitLab alone"));
    }

    static List<Repository> repositories(JsonNode list, Function<JsonNode, Repository> one) {
        if (!list.isArray()) {
            throw HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE,
                    "the Git provider's response is not a list of repositories");
        }
        return StreamSupport.stream(list.spliterator(), false).map(one).toList();
    }

    /** Text at the pointer, or null. */
    static @Nullable String text(JsonNode json, String pointer) {
        JsonNode found = json.at(pointer);
        return found.isValueNode() && !found.isNull() ? found.asText() : null;
    }

    /** Text at the pointer. Throws HandlerException when it is absent. */
    static String needed(JsonNode json, String pointer) {
        String text = text(json, pointer);
        if (text == null) {
            throw HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE,
                    "the Git provider's answer has no " + pointer);
        }
        return text;
    }

    /** Encodes text for one segment of a path, or for a value of a query. */
    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** {@code owner/name} with both encoded. */
    static String path(String repository) {
        int slash = repository.lastIndexOf('/');
        return encoded(repository.substring(0, Math.max(0, slash))) + "/"
                + encoded(repository.substring(slash + 1));
    }
}
