package dev.culvert.client.identity;

/** What the identity folder holds. */
sealed interface StoredIdentity {
    /**
     * Key and certificate are there and fit. The certificate may have ended.
     *
     * @param identity what they make
     */
    record Usable(Identity identity) implements StoredIdentity {}

    /** Nothing yet. */
    record Absent() implements StoredIdentity {}

    /**
     * Something that can't be used.
     *
     * @param reason names the file and what was expected
     */
    record Broken(String reason) implements StoredIdentity {}
}
