package dev.culvert.inbox.model;

/**
 * An event source of a runtime.
 *
 * @param ordered whether its webhooks are delivered in the order of their arrival; not part of its identity
 */
public record SourceKey(String runtime, String source, boolean ordered) {}
