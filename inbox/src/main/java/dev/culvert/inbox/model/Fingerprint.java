package dev.culvert.inbox.model;

import org.jspecify.annotations.Nullable;

/** What a webhook is known by. */
public final class Fingerprint {
    /** What the provider calls it; null: nothing. */
    public final @Nullable String provider;
    /** SHA-256 of its body. */
    public final byte[] hash;
    /** The same for duplicates alone; null: it is never one. */
    public final byte @Nullable [] dedupe;

    /** @param target with the query, which duplicates may differ in */
    public Fingerprint(String runtime, String target, @Nullable String provider, byte[] hash) {
        this.provider = provider;
        this.hash = hash;
        this.dedupe = provider == null ? null : WebhookDigests.dedupe(runtime, target, provider, hash);
    }
}
