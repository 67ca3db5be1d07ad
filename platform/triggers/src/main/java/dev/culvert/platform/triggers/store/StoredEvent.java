package dev.culvert.platform.triggers.store;

/**
 * Something that may happen.
 *
 * @param uri names it, in all accounts
 * @param type as {@code registry}
 * @param kind as {@code dockerhub}
 * @param details what it is, for people
 * @param secret the wrapped secret of whoever says that it happened; empty: nobody may say it
 * @param created in milliseconds since 1970
 */
public record StoredEvent(String uri, String account, String type, String kind, String details,
        String secret, long created) {
    /** Without the secret. */
    @Override
    public String toString() {
        return uri;
    }
}
