package dev.culvert.relay.route;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Describes how a webhook's signature is verified before the webhook is stored.
 *
 * @param provider the signing provider, which determines the fields and the algorithm
 * @param secretFile the file of the secrets; null if the verification came from an announcement
 * @param shared the secrets, if the cluster's owner has them announced; null: they are not announced
 */
public record Verification(Provider provider, @Nullable Path secretFile, @Nullable SigningSecrets shared) {
    /** Creates a verification whose secrets are not announced. */
    public Verification(Provider provider, @Nullable Path secretFile) {
        this(provider, secretFile, null);
    }

    /** The providers that sign webhooks. */
    public enum Provider {
        /** {@code X-Hub-Signature-256}: HMAC-SHA-256 of the body. */
        GITHUB,
        /** {@code X-Gitlab-Token}: the secret itself. */
        GITLAB,
        /** {@code X-Hub-Signature}: HMAC-SHA-256 of the body. */
        BITBUCKET,
        /** No signature: the URL's query holds the secret, {@code secret=}. */
        DOCKER_HUB,
        /** {@code webhook-signature} of Standard Webhooks: HMAC-SHA-256 of id, time and body. */
        STANDARD_WEBHOOKS
    }
}
