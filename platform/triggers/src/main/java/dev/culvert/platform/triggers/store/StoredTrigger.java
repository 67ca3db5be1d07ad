package dev.culvert.platform.triggers.store;

/**
 * A pipeline that an event starts.
 *
 * @param event the URI of the event
 * @param pipeline the pipeline's name
 * @param filters JSON: patterns by the names of the event's fields
 */
public record StoredTrigger(String account, String event, String pipeline, String filters) {}
