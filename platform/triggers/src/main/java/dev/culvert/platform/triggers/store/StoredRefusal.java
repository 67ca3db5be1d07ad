package dev.culvert.platform.triggers.store;

/**
 * Something that happened and started nothing.
 *
 * @param event the URI of the event
 * @param delivery the key of what happened
 * @param why each reason on a line of its own
 * @param created in milliseconds since 1970
 */
public record StoredRefusal(String account, String id, String event, String delivery, String why,
        long created) {}
