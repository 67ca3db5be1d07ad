package dev.culvert.inbox.model;

import org.jspecify.annotations.Nullable;

/** Identifies a webhook, to recognise duplicates. */
public final class Fingerprint {
    /** The provider's id; null: the provider sent none. */
    public final @Nullable String provider;
    /** The SHA-256 hash of the body. */
    public final byte[] hash;
    /** The digest that duplicates share; null: the webhook has no duplicates. */
    public final byte @Nullable [] dedupe;

    /**
     * @param target path and query; duplicates may differ in the query
     * @param key what identifies the webhook beside its body: the provider's id, of a signed one that of the
     *     provider of the signature. Null: it has no duplicates
     */
    public Fingerprint(String runtime, String target, @Nullable String provider, @Nullable String key,
            byte[] hash) {
        this.provider = provider;
        this.hash = hash;
        this.dedupe = key == null ? null : WebhookDigests.dedupe(runtime, target, key, hash);
    }
}
