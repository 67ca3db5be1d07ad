package dev.culvert.inbox;

/**
 * An event source of a runtime.
 *
 * @param ordered whether its webhooks are delivered in the order in which they came; not part of its identity
 */
record SourceKey(String runtime, String source, boolean ordered) {}
