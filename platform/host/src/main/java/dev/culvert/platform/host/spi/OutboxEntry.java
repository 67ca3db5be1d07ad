package dev.culvert.platform.host.spi;

/**
 * A stored message to another part.
 *
 * @param id identifies the message: the same one may be delivered twice
 * @param account the account that it counts for
 * @param target the receiver, in the module's words; messages of an account to one target are
 *     delivered in order
 * @param body the message
 * @param attempt 1 for the first delivery
 */
public record OutboxEntry(long id, String account, String target, String body, int attempt) {}
