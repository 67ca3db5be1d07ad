package dev.culvert.platform.triggers.git;

import dev.culvert.platform.triggers.hermes.Proof;
import dev.culvert.platform.triggers.hermes.Proof.Algorithm;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The providers of Git, and how each proves that it knows a secret. */
@SuppressWarnings("ImmutableEnumChecker") // List.of is immutable
enum GitProvider {
    /** docs.github.com, "Webhook events and payloads". */
    GITHUB("GitHub", "pull request", "x-github-event", List.of("x-github-delivery")) {
        @Override
        Proof proof(HttpHeaders headers, byte[] body) {
            return signed(headers.get("x-hub-signature-256"), body);
        }

        @Override
        List<GitChange> changes(GitPayload payload) {
            return GithubPayloads.changes(payload);
        }
    },
    /** docs.gitlab.com, "Webhook events". */
    GITLAB("GitLab", "merge request", "x-gitlab-event", List.of("idempotency-key", "x-gitlab-event-uuid")) {
        @Override
        Proof proof(HttpHeaders headers, byte[] body) {
            return Proof.equal(headers.get("x-gitlab-token"));
        }

        @Override
        List<GitChange> changes(GitPayload payload) {
            return GitlabPayloads.changes(payload);
        }
    },
    /** support.atlassian.com/bitbucket-cloud, "Event payloads". */
    BITBUCKET("Bitbucket", "pull request", "x-event-key", List.of("x-request-uuid")) {
        @Override
        Proof proof(HttpHeaders headers, byte[] body) {
            return signed(headers.get("x-hub-signature"), body);
        }

        @Override
        List<GitChange> changes(GitPayload payload) {
            return BitbucketPayloads.changes(payload);
        }
    },
    /** docs.gitea.com, "Webhooks". Its payloads are like GitHub's. */
    GITEA("Gitea", "pull request", "x-gitea-event", List.of("x-gitea-delivery")) {
        @Override
        Proof proof(HttpHeaders headers, byte[] body) {
            return Proof.hmac(Algorithm.SHA256, headers.get("x-gitea-signature"), body);
        }

        @Override
        List<GitChange> changes(GitPayload payload) {
            return GithubPayloads.changes(payload);
        }
    };

    private static final String PREFIX = "sha256=";

    private final String title;
    private final String pullRequest;
    private final String eventField;
    private final List<String> deliveryFields;

    GitProvider(String title, String pullRequest, String eventField, List<String> deliveryFields) {
        this.title = title;
        this.pullRequest = pullRequest;
        this.eventField = eventField;
        this.deliveryFields = deliveryFields;
    }

    static Optional<GitProvider> of(String word) {
        return Arrays.stream(values()).filter(each -> each.word().equals(word)).findFirst();
    }

    private static Proof signed(@Nullable String field, byte[] body) {
        return Proof.hmac(Algorithm.SHA256,
                field != null && field.startsWith(PREFIX) ? field.substring(PREFIX.length()) : null, body);
    }

    /** The proof of a webhook. */
    abstract Proof proof(HttpHeaders headers, byte[] body);

    /** What a webhook tells; empty for other events. Throws HandlerException BAD_REQUEST. */
    abstract List<GitChange> changes(GitPayload payload);

    /** Its name in paths and URIs. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    String title() {
        return title;
    }

    /** What it calls pull requests. */
    String pullRequest() {
        return pullRequest;
    }

    /** The name of the event; empty: none was given. */
    String event(HttpHeaders headers) {
        return headers.get(eventField, "");
    }

    String eventField() {
        return eventField;
    }

    /** What names the delivery; null: nothing does. */
    @Nullable
    String delivery(HttpHeaders headers) {
        return deliveryFields.stream()
                .map(headers::get)
                .filter(value -> value != null && !value.isBlank())
                .findFirst()
                .orElse(null);
    }
}
