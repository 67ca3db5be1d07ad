package dev.culvert.inbox.model;

import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Computes the ids and digests that identify a webhook. */
public final class WebhookDigests {
    /** The fields that carry a provider's id, in order of precedence. */
    private static final List<String> PROVIDER_IDS = List.of("idempotency-key", "webhook-id",
            "x-github-delivery",
            "x-request-uuid");
    private static final int DEDUPE_BYTES = 16;
    private static final int MAX_ID = 256;

    private WebhookDigests() {}

    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Returns the provider's id; null: the provider sent none. */
    public static @Nullable String providerId(Http2Headers fields) {
        for (String name : PROVIDER_IDS) {
            CharSequence id = fields.get(name);
            if (id != null && !id.isEmpty() && id.length() <= MAX_ID) {
                return id.toString();
            }
        }
        return null;
    }

    /** Returns the digest that duplicates share. It covers the path but not the query. */
    static byte[] dedupe(String runtime, String target, String key, byte[] bodyHash) {
        int query = target.indexOf('?');
        MessageDigest digest = sha256();
        for (String part : List.of(runtime, query < 0 ? target : target.substring(0, query), key)) {
            digest.update(part.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
        }
        return Arrays.copyOf(digest.digest(bodyHash), DEDUPE_BYTES);
    }
}
