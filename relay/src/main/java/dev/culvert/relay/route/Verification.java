package dev.culvert.relay.route;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a webhook's signature is verified before it is stored.
 *
 * @param provider who signs, and so which field holds what
 * @param secretFile holds the secrets; null where this came from an announcement
 * @param shared the secrets, where the cluster's owner has them announced; null: they are not
 */
public record Verification(Provider provider, @Nullable Path secretFile, @Nullable SigningSecrets shared) {
    /** One whose secrets are announced to nobody. */
    public Verification(Provider provider, @Nullable Path secretFile) {
        this(provider, secretFile, null);
    }

    /** Who signs webhooks. */
    public enum Provider {
        /** {@code X-Hub-Signature-256}: HMAC-SHA-256 of the body. */
        GITHUB,
        /** {@code X-Gitlab-Token}: the secret itself. */
        GITLAB,
        /** {@code X-Hub-Signature}: HMAC-SHA-256 of the body. */
        BITBUCKET,
        /** No signature: the secret stands in the URL's query, {@code secret=}. */
        DOCKER_HUB,
        /** {@code webhook-signature} of Standard Webhooks: HMAC-SHA-256 of id, time and body. */
        STANDARD_WEBHOOKS
    }
}
