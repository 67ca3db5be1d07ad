package dev.culvert.client.identity;

/** The content of the identity folder. */
sealed interface StoredIdentity {
    /**
     * Key and certificate exist and match. The certificate may have expired.
     *
     * @param identity the identity
     */
    record Usable(Identity identity) implements StoredIdentity {}

    /** There is no identity. */
    record Absent() implements StoredIdentity {}

    /**
     * The content is unusable.
     *
     * @param reason the file and the expected content
     */
    record Broken(String reason) implements StoredIdentity {}
}
