package dev.culvert.inbox;

import org.jspecify.annotations.Nullable;

/** What a webhook is known by. */
final class Fingerprint {
    /** What the provider calls it; null: nothing. */
    final @Nullable String provider;
    /** SHA-256 of its body. */
    final byte[] hash;
    /** The same for duplicates alone; null: it is never one. */
    final byte @Nullable [] dedupe;

    /** @param target with the query, which duplicates may differ in */
    Fingerprint(String runtime, String target, @Nullable String provider, byte[] hash) {
        this.provider = provider;
        this.hash = hash;
        this.dedupe = provider == null ? null : WebhookDigests.dedupe(runtime, target, provider, hash);
    }
}
