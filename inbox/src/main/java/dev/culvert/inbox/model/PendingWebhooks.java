package dev.culvert.inbox.model;

/**
 * The webhooks that wait to be delivered.
 *
 * @param oldest the first one in line
 * @param count the number of all
 */
public record PendingWebhooks(InboxEntry oldest, long count) {}
